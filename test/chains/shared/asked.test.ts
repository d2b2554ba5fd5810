import { describe, expect, it } from 'vitest'
import { describeRequests } from '../../../src/chains/shared/asked.ts'
import type { SessionRequest } from '../../../src/sessions/session-requests.ts'
import { readBlocks } from '../../prompts/blocks.ts'

const session = (texts: string[]): SessionRequest[] =>
  texts.map((text, index) => ({ number: index + 1, text, fate: index === texts.length - 1 ? 'present' : 'built' }))

describe('describeRequests', () => {
  it('names the present request last, after those that it may reverse', () => {
    const text = describeRequests(session(['keep 35 days', 'add an alarm', 'make it 7 days elsewhere']))
    expect(readBlocks(text).map(({ content }) => content.trim())).toEqual([
      'keep 35 days',
      'add an alarm',
      'make it 7 days elsewhere',
    ])
    expect(text).toContain('request 3 is the present one and counts above all')
    expect(text).toContain('Request 3, the present one:')
    expect(text).toContain('Each later request counts where it contradicts an earlier one')
  })

  it('stays short in a long session: the first and the last ones whole, the beginning of those between', () => {
    const long = (number: number) => `begin ${number} ${'x'.repeat(5_000)} end ${number}`
    const text = describeRequests(session(Array.from({ length: 200 }, (_, index) => long(index + 1))))
    for (const number of [1, 193, 200]) expect(text).toContain(long(number))
    expect(text).toContain('begin 192 ')
    expect(text).not.toContain(long(192))
    expect(text).not.toContain('begin 2 ')
    expect(text).toContain('151 requests after it are not shown.')
    expect(text.length).toBeLessThan(100_000)
  })
})
