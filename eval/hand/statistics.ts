import { alignColumns } from '../summary.ts'
import { type HandAnswer, type HandRequest, type Measured, outputChars, STATUS_TEXT, tokensOf } from './answer.ts'

export type CallRecord = ReturnType<typeof recordOf>

/**
 * Makes the record of a call that has ended.
 * @param round scenario, sample and round, for example `builtin/queue #1, round 2`
 * @param outcome its measures and its answer; null if the client disconnected before there was one
 */
export function recordOf(
  call: number,
  round: string,
  request: HandRequest,
  outcome: Measured & { answer: HandAnswer | null; waitedMs: number },
) {
  const { answer, waitedMs, ...measured } = outcome
  return {
    ...{ call, round, chain: request.chain, model: request.model },
    /** Names of the tools that were offered. */
    tools: request.tools.map(({ name }) => name),
    /** Names of the tools that the answer calls, in order. */
    called: answer?.calls.map(({ name }) => name) ?? [],
    ...measured,
    output_chars: answer ? outputChars(answer) : 0,
    waited_ms: waitedMs,
    end: answer ? 'answered' : 'aborted',
    at: new Date().toISOString(),
  }
}

type Sums = ReturnType<typeof sumsOf>

export function summariseCalls(calls: readonly CallRecord[]) {
  const real = calls.filter(({ chain }) => chain !== STATUS_TEXT)
  const called = Map.groupBy(
    calls.flatMap((one) => one.called),
    (name) => name,
  )
  return {
    /** Sums of all calls without status texts, as in the rounds. */
    total: sumsOf(real),
    rounds: [...Map.groupBy(real, ({ round }) => round)].map(([round, of]) => ({ round, ...sumsOf(of) })),
    /** Status texts are a chain of their own here. */
    chains: [...Map.groupBy(calls, ({ chain }) => chain)].map(([chain, of]) => ({ chain, ...sumsOf(of) })),
    /** Calls of each tool in the answers. */
    called: Object.fromEntries([...called].map(([name, of]) => [name, of.length])),
    calls: [...calls],
  }
}

function sumsOf(calls: readonly CallRecord[]) {
  const sum = (pick: (call: CallRecord) => number) => calls.reduce((total, call) => total + pick(call), 0)
  const input = sum((call) => call.input_chars)
  const prefix = sum((call) => call.prefix_chars)
  const output = sum((call) => call.output_chars)
  return {
    calls: calls.length,
    aborted: calls.filter(({ end }) => end === 'aborted').length,
    input_chars: input,
    /** Estimated at four characters each, as are all tokens. */
    input_tokens: tokensOf(input),
    prefix_chars: prefix,
    /** Share of the input that an earlier call has in common at its beginning, 0 to 1; null without any input. */
    prefix_share: input === 0 ? null : prefix / input,
    output_chars: output,
    output_tokens: tokensOf(output),
    waited_s: Math.round(sum((call) => call.waited_ms) / 100) / 10,
  }
}

const COLUMNS: [head: string, cell: (sums: Sums) => string][] = [
  ['calls', ({ calls }) => String(calls)],
  ['aborted', ({ aborted }) => String(aborted)],
  ['chars in', ({ input_chars }) => String(input_chars)],
  ['tokens in', ({ input_tokens }) => String(input_tokens)],
  ['prefix', ({ prefix_share }) => (prefix_share === null ? '-' : `${(prefix_share * 100).toFixed(0)}%`)],
  ['chars out', ({ output_chars }) => String(output_chars)],
  ['tokens out', ({ output_tokens }) => String(output_tokens)],
  ['waited s', ({ waited_s }) => waited_s.toFixed(1)],
]
const HEAD = COLUMNS.map(([head]) => head)
const cells = (sums: Sums): string[] => COLUMNS.map(([, cell]) => cell(sums))

export function renderStatistics(statistics: ReturnType<typeof summariseCalls>): string[] {
  const { total, rounds, chains, called, calls } = statistics
  const counts = Object.entries(called).map(([name, count]) => `${name} ${count}`)
  const each = calls.map((one) => [
    `${one.call} ${one.chain}`,
    one.end === 'aborted' ? 'aborted' : one.called.join(' ') || 'text',
    ...cells(sumsOf([one])).slice(2),
  ])
  return [
    ...alignColumns([['call', 'answer', ...HEAD.slice(2)], ...each]),
    '',
    ...alignColumns([['chain', ...HEAD], ...chains.map((one) => [one.chain, ...cells(one)])]),
    '',
    ...alignColumns([
      ['round, without status texts', ...HEAD],
      ...rounds.map((one) => [one.round, ...cells(one)]),
      ['all', ...cells(total)],
    ]),
    '',
    `tools called: ${counts.join(', ') || 'none'}`,
  ]
}
