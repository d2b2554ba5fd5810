import type { Outcome } from './run.ts'
import type { Result } from './types.ts'

const WORDS = { passed: 'passed', broken: 'FAILED', skipped: 'skipped' } as const

/** Renders one line per promise. The reasons for a broken promise stand below it. */
export function humanReport(outcome: Outcome): string {
  const width = Math.max(...outcome.promises.map(({ id }) => id.length))
  const { passed, broken, skipped } = outcome
  return [
    `${outcome.url} against contracts/${outcome.contract}.v1.yaml ${outcome.version}, seed ${outcome.seed}`,
    '',
    ...outcome.promises.flatMap((result) => linesOf(result, width)),
    '',
    `${passed + broken + skipped} promises: ${passed} passed, ${broken} FAILED, ${skipped} skipped`,
    outcome.conformant ? 'conformant' : 'NOT conformant',
  ].join('\n')
}

function linesOf({ id, promise, outcome, reason, exchanges, findings }: Result, width: number): string[] {
  const note = outcome === 'skipped' ? `: ${reason}` : ` (${exchanges} ${exchanges === 1 ? 'exchange' : 'exchanges'})`
  return [
    `${WORDS[outcome].padEnd(7)}  ${id.padEnd(width)}  ${promise}${note}`,
    ...findings.flatMap(({ why, request, answer }) => [
      `         ${why}`,
      ...quoted('>', request),
      ...quoted('<', answer),
      '',
    ]),
  ]
}

const quoted = (mark: string, text: string) =>
  text === '' ? [] : text.split('\n').map((line) => `           ${mark} ${printable(line)}`)

/** Replaces control characters, because an answer must not control the terminal. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is replaced
const printable = (line: string) => line.replace(/[\u0000-\u001f\u007f-\u009f]/g, '\ufffd')
