import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decrypt, encrypt } from '../../src/saved-plans/encrypted-archive.ts'

const KEY = 'a key of at least thirty-two characters'
const HEAD = 4 + 32
const FRAME = 1024 * 1024 + 16
/** Makes bytes that are random enough for all frames to differ. */
const bytes = (length: number) => {
  const all = new Uint8Array(length)
  for (let at = 0; at < length; at += 65_536) crypto.getRandomValues(all.subarray(at, at + 65_536))
  return all
}
const three = bytes(2 * 1024 * 1024 + 5)
const whole = await encrypt(KEY, 'about', three)
const frame = (index: number) => whole.slice(HEAD + index * FRAME, HEAD + (index + 1) * FRAME)
const joined = (...parts: Uint8Array[]) => new Uint8Array(parts.flatMap((part) => [...part]))

describe('encrypt', () => {
  it.each([0, 1, 1024 * 1024 - 1, 1024 * 1024, 1024 * 1024 + 1])('keeps %i bytes', async (length) => {
    const plain = bytes(length)
    const encrypted = await encrypt(KEY, 'about', plain)
    expect(await decrypt(KEY, 'about', encrypted)).toEqual(plain)
    expect(await decrypt(KEY, 'something else', encrypted)).toBeNull()
    expect(await decrypt(`${KEY}.`, 'about', encrypted)).toBeNull()
  })

  it('never makes the same object twice', async () => {
    const plain = bytes(100)
    const [one, two] = await Promise.all([encrypt(KEY, 'about', plain), encrypt(KEY, 'about', plain)])
    expect(one).not.toEqual(two)
  })
})

describe('decrypt', () => {
  it('reads what is whole, so the tests below can fail', async () => {
    expect(await decrypt(KEY, 'about', joined(whole.slice(0, HEAD), frame(0), frame(1), frame(2)))).toEqual(three)
  })

  it.each([
    ['a frame is missing at the end', [frame(0), frame(1)]],
    ['a frame is missing in the middle', [frame(0), frame(2)]],
    ['a frame is missing at the beginning', [frame(1), frame(2)]],
    ['two frames changed places', [frame(1), frame(0), frame(2)]],
    ['a frame comes twice', [frame(0), frame(0), frame(1), frame(2)]],
    ['something follows the last frame', [frame(0), frame(1), frame(2), frame(2)]],
    ['there is no frame', []],
  ])('refuses when %s', async (_, frames) => {
    expect(await decrypt(KEY, 'about', joined(whole.slice(0, HEAD), ...frames))).toBeNull()
  })

  it('refuses a frame of another object', async () => {
    const other = await encrypt(KEY, 'about', three)
    const mixed = joined(whole.slice(0, HEAD), frame(0), other.slice(HEAD + FRAME, HEAD + 2 * FRAME), frame(2))
    expect(await decrypt(KEY, 'about', mixed)).toBeNull()
  })

  it('refuses every object that lost bytes or of which one bit differs', async () => {
    const plain = bytes(300)
    const encrypted = await encrypt(KEY, 'about', plain)
    await fc.assert(
      fc.asyncProperty(
        fc.nat(encrypted.length - 1),
        fc.integer({ min: 1, max: 255 }),
        fc.boolean(),
        async (at, change, cut) => {
          const damaged = cut ? encrypted.slice(0, at) : encrypted.slice()
          if (!cut) damaged[at] = (damaged[at] ?? 0) ^ change
          expect(await decrypt(KEY, 'about', damaged)).toBeNull()
        },
      ),
      { numRuns: 300 },
    )
  })

  it('takes any bytes for what they are', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 200 }), async (any) => {
        expect(await decrypt(KEY, 'about', new Uint8Array(any))).toBeNull()
      }),
    )
  })
})
