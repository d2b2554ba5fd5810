import { describe, expect, it } from 'vitest'
import { cutEnd, cutMiddle } from '../../src/base/text.ts'

const TEXT = 'The provider hashicorp/random could not be installed from the registry of the company.'
const WORDS = new Set(TEXT.split(' '))

describe('texts that are cut', () => {
  it('end at words, whatever the limit', () => {
    for (let limit = 20; limit < TEXT.length; limit += 1) {
      const end = cutEnd(TEXT, limit)
      expect(end.length).toBeLessThanOrEqual(limit)
      const [head = '', tail = ''] = cutMiddle(TEXT, limit).split(/\n.* characters left out …\]\n/)
      expect(head.length + tail.length).toBeLessThanOrEqual(limit)
      for (const word of [end.replace(/…$/, ''), head, tail].flatMap((part) => part.split(' ')).filter(Boolean))
        expect([limit, word, WORDS.has(word)]).toEqual([limit, word, true])
    }
  })

  it('count what is left out, and cut what is no word by its length', () => {
    expect(cutMiddle('aaaa bbbb cccc dddd', 12)).toBe('aaaa\n[… 11 characters left out …]\ndddd')
    expect(cutEnd('x'.repeat(100), 10)).toBe(`${'x'.repeat(9)}…`)
    expect(cutEnd(`${'x'.repeat(8)}😀`, 9)).toBe(`${'x'.repeat(8)}…`)
  })
})
