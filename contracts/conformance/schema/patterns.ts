import type { Random } from './random.ts'

/** Makes texts for one pattern of the contracts. A generator cannot derive them from a regular expression. */
interface PatternTexts {
  /** Makes a fitting text of about this many characters. */
  valid(random: Random, length: number): string
  invalid: readonly string[]
}

const WORDS = [
  'payments',
  'shop',
  'network-eu',
  'team_7',
  'Ops.Prod',
  'naïve',
  'мир',
  '漢字',
  'data',
  '😀',
  'a=b',
  'x/y',
  "o'neil",
  'a"b',
  '50%',
] as const

/** Makes a visible text of words with single spaces between, of exactly `length` code points. */
export function generateWords(random: Random, length: number): string {
  const points: string[] = []
  while (points.length < length) points.push(...(points.length > 0 ? ' ' : ''), ...random.pick(WORDS))
  const cut = points.slice(0, length)
  if (cut.at(-1) === ' ') cut[cut.length - 1] = 'x'
  return cut.join('')
}

const letters = (random: Random, length: number) =>
  Array.from({ length }, () => String.fromCharCode(97 + random.int(0, 25))).join('')

const PATTERNS: Record<string, PatternTexts> = {
  '^/[^\\u0000]*$': {
    valid: (random, length) => `/${letters(random, length - 1)}`,
    invalid: ['relative/path', 'C:\\work', ' /work'],
  },
  '^(?!\\.{1,2}$)(?!-)[A-Za-z0-9._-]{1,128}$': {
    valid: (random, length) => letters(random, Math.min(128, Math.max(1, length))),
    invalid: ['', '.', '..', '../up.plan', 'a/b', 'a\\b', '-out', 'a b', 'plän', 'a\n', 'x'.repeat(129)],
  },
  '^[^-\\u0000][^\\u0000]*$': {
    valid: (random, length) => generateWords(random, length).replace(/^-/, 'x'),
    invalid: ['-', '-destroy', '--help', '-var=x=y'],
  },
  '^[A-Za-z][A-Za-z0-9_-]{0,127}$': {
    valid: (random, length) => letters(random, Math.min(128, Math.max(1, length))),
    invalid: ['', '1st', '-x', '_x', 'a b', 'a.b', 'a/b', 'ä', 'x'.repeat(129)],
  },
  '^[0-9a-f]{64}$': {
    valid: (random) => Array.from({ length: 64 }, () => random.int(0, 15).toString(16)).join(''),
    invalid: ['', 'f'.repeat(63), 'f'.repeat(65), 'F'.repeat(64), 'g'.repeat(64)],
  },
  '^[^\\u0000]*$': { valid: generateWords, invalid: [] },
  '^[^\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029]*$': {
    valid: generateWords,
    invalid: ['two\nlines', 'two\r\nlines', 'two\rlines', '\nsubject', 'subject\n'],
  },
}

/** Finds what makes texts for a pattern. Errors: the suite does not know the pattern. */
export function findPattern(pattern: string): PatternTexts {
  const entry = PATTERNS[pattern]
  if (!entry)
    throw new Error(
      `the suite has no texts for the pattern ${pattern}: add them to contracts/conformance/schema/patterns.ts`,
    )
  return entry
}

const PARTS = ['session', 'a-b', 'q%20r', '~x', '7'] as const

/** Makes a value of a format, with `length` characters when the format allows that. */
export function generateFormatted(format: string, random: Random, length: number): string {
  if (format === 'uuid')
    return `${hex(random, 8)}-${hex(random, 4)}-4${hex(random, 3)}-a${hex(random, 3)}-${hex(random, 12)}`
  if (format === 'date-time') return new Date(1.7e12 + random.int(0, 1e9) * 1000).toISOString()
  if (format !== 'uri') throw new Error(`the suite makes no texts of the format ${format}`)
  const base = 'https://example.com/'
  let path = ''
  while (path.length < length - base.length) path += `${random.pick(PARTS)}/`
  return `${base}${path}`.slice(0, Math.max(base.length, length)).replace(/%2?$/, (cut) => 'x'.repeat(cut.length))
}

const hex = (random: Random, length: number) => Array.from({ length }, () => random.int(0, 15).toString(16)).join('')
