import { randomBytes } from 'node:crypto'
import { constants, deflateSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { createSlices } from '../../../src/base/slices.ts'
import { createInflater } from '../../../src/repository/pack/inflate.ts'

/** One for all streams, whole and damaged, as for the objects of a pack. */
const inflate = createInflater()

async function read(bytes: Uint8Array, size: number, wanted = true) {
  const contents = wanted ? new Uint8Array(size) : null
  const end = await inflate(bytes, { start: 0, end: bytes.length }, { size, target: contents, slices: createSlices() })
  return { contents, end }
}

/** Texts of many kinds: noise, runs, words, few symbols, matches of all lengths. */
const SAMPLES: [string, Buffer][] = [
  ['nothing', Buffer.alloc(0)],
  ['one byte', Buffer.from('x')],
  ['noise', randomBytes(100_000)],
  ['a run', Buffer.alloc(1_000_000, 'a')],
  ['words', Buffer.from(Array.from({ length: 30_000 }, (_, index) => `word${index % 977} `).join(''))],
  [
    'far matches',
    Buffer.concat([randomBytes(30_000), Buffer.alloc(2_000), randomBytes(30_000)].flatMap((b) => [b, b])),
  ],
  ['skewed symbols', Buffer.from(Array.from({ length: 200_000 }, (_, i) => Math.clz32((i * 2_654_435_761) >>> 0)))],
]

describe('inflate', () => {
  it.each(SAMPLES)('reads what zlib wrote: %s', async (_, sample) => {
    for (const level of [0, 1, 6, 9])
      for (const strategy of [
        constants.Z_DEFAULT_STRATEGY,
        constants.Z_FIXED,
        constants.Z_HUFFMAN_ONLY,
        constants.Z_RLE,
      ]) {
        const compressed = deflateSync(sample, { level, strategy })
        const behind = Buffer.concat([compressed, randomBytes(64)])
        const { contents, end } = await read(behind, sample.length)
        expect(end).toBe(compressed.length)
        expect(Buffer.compare(Buffer.from(contents ?? []), sample)).toBe(0)
        expect(await read(behind, sample.length, false)).toEqual({ contents: null, end: compressed.length })
      }
  })

  it('refuses contents of another length than declared, without taking more memory', async () => {
    const compressed = deflateSync(Buffer.alloc(1_000_000))
    for (const wanted of [true, false]) {
      await expect(read(compressed, 999_999, wanted)).rejects.toThrow('longer than it says')
      await expect(read(compressed, 1_000_001, wanted)).rejects.toThrow('shorter than it says')
    }
  })

  it('refuses every cut and never reads on', async () => {
    const sample = Buffer.from('the quick brown fox '.repeat(20))
    const compressed = deflateSync(sample)
    for (let length = 0; length < compressed.length; length++)
      await expect(read(compressed.subarray(0, length), sample.length)).rejects.toThrow()
  })

  it('ends, with a result or an error, whatever the bytes are', async () => {
    const compressed = deflateSync(Buffer.from(SAMPLES[4]?.[1] ?? []).subarray(0, 4_000))
    for (let round = 0; round < 2_000; round++) {
      const damaged = Buffer.from(compressed)
      for (let flips = 0; flips < 3; flips++)
        damaged[2 + Math.floor(Math.random() * (damaged.length - 2))] = Math.floor(Math.random() * 256)
      const outcome = await read(damaged, 4_000).then(
        ({ contents }) => contents?.length,
        (error: Error) => error.message,
      )
      expect(outcome === 4_000 || /^the (compressed )?data /.test(String(outcome)), String(outcome)).toBe(true)
    }
  })

  it.each([
    ['another method', [0x79, 0x9c, 3, 0], 'is damaged'],
    ['a dictionary', [0x78, 0xbb, 0, 0], 'is damaged'],
    ['an unknown block', [0x78, 0x9c, 0x07, 0], 'is damaged'],
    ['a stored block with a wrong complement', [0x78, 0x9c, 1, 1, 0, 0, 0, 65], 'is damaged'],
    ['a match before the beginning', [0x78, 0x9c, 3, 2], 'is damaged'],
  ])('refuses %s', async (_, bytes, text) => {
    await expect(read(Buffer.from([...bytes, ...Buffer.alloc(8)]), 5)).rejects.toThrow(text)
  })
})
