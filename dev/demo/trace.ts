import { setTimeout as sleep } from 'node:timers/promises'
import type { ReceivedSpan } from '../collector/read-spans.ts'
import { shortenOutput } from '../sample-state/engine-root.ts'
import type { Session } from './api.ts'
import type { Display } from './display.ts'

const MODEL = 'Async Inference'
/** Longest wait for spans. Processes send theirs every five seconds. */
const PATIENCE_MS = 8_000

/** Reads the spans of a session from the stack's collector. Waits at most 8 s until they hold all its tokens. */
export async function readTrace(
  collectorUrl: string,
  session: Session,
  options: { token: string; pull_request: boolean; signal: AbortSignal },
): Promise<ReceivedSpan[]> {
  const began = performance.now()
  for (;;) {
    const headers = { authorization: `Bearer ${options.token}` }
    const address = `${collectorUrl}v1/sessions/${session.uuid}/spans`
    const response = await fetch(address, { headers, signal: options.signal })
    const { data } = (await response.json()) as { data: ReceivedSpan[] }
    if (isComplete(data, session, options.pull_request) || performance.now() - began > PATIENCE_MS) return data
    await sleep(250, undefined, { signal: options.signal })
  }
}

function isComplete(spans: readonly ReceivedSpan[], session: Session, pullRequest: boolean): boolean {
  const writers = new Set(spans.filter(({ name }) => name === 'Chain - PR_GENERATOR').map(({ span_id }) => span_id))
  if (pullRequest && writers.size === 0) return false
  const used = session.rounds.reduce(
    (sum, { usage }) => sum + (usage ? usage.input_tokens + usage.output_tokens : 0),
    0,
  )
  const { input_tokens, output_tokens } = sumSpans(
    spans.filter(({ parent_id }) => parent_id === null || !writers.has(parent_id)),
  )
  return used > 0 && input_tokens + output_tokens >= used
}

const numberAt = ({ attributes }: ReceivedSpan, key: string): number => {
  const value = attributes[key]
  return typeof value === 'number' ? value : 0
}

/** Sums up the spans of a session. */
export function sumSpans(spans: readonly ReceivedSpan[]) {
  const calls = spans.filter(({ name }) => name === MODEL)
  const sum = (key: string) => calls.reduce((total, span) => total + numberAt(span, key), 0)
  const priced = calls.every(
    ({ attributes, status }) => status === 'error' || attributes['llm.cost.total'] !== undefined,
  )
  return {
    spans: spans.length,
    model_calls: calls.length,
    tool_calls: spans.filter(({ name }) => name.startsWith('Tool call - ')).length,
    engine_runs: spans.filter(({ name }) => name.startsWith('Engine ')).length,
    input_tokens: sum('llm.token_count.prompt'),
    output_tokens: sum('llm.token_count.completion'),
    /** US dollars; null when the price of a model is not known. */
    cost_usd: priced ? Math.round(sum('llm.cost.total') * 1e6) / 1e6 : null,
  }
}

const seconds = (ms: number) => `${(Math.round(ms) / 1000).toFixed(3)} s`
const dollars = (cost: number) => `$${cost.toFixed(4)}`

/** Renders the spans as a tree with start, duration and usage of each. */
export function renderTrace(spans: readonly ReceivedSpan[]): string[] {
  const began = Math.min(...spans.map(({ start_ms }) => start_ms))
  const spanIds = new Set(spans.map(({ span_id }) => span_id))
  const lines: string[] = []
  const add = (span: ReceivedSpan, depth: number) => {
    const name = `${'  '.repeat(depth)}${span.name}`.padEnd(44)
    const [start, took] = [span.start_ms - began, span.end_ms - span.start_ms].map((ms) => seconds(ms).padStart(10))
    lines.push(`${start}  ${name}${took}  ${describeSpan(span)}`.trimEnd())
    for (const child of spans.filter(({ parent_id }) => parent_id === span.span_id)) add(child, depth + 1)
  }
  for (const span of spans) if (span.parent_id === null || !spanIds.has(span.parent_id)) add(span, 0)
  return lines
}

function describeSpan(span: ReceivedSpan): string {
  const parts: string[] = []
  if (span.name === MODEL) {
    parts.push(`${numberAt(span, 'llm.token_count.prompt')} + ${numberAt(span, 'llm.token_count.completion')} tokens`)
    if (span.attributes['llm.cost.total'] !== undefined) parts.push(dollars(numberAt(span, 'llm.cost.total')))
    parts.push(String(span.attributes['llm.model_name'] ?? ''))
  }
  if (span.status === 'error') parts.push(`error: ${shortenOutput(span.status_message, 100)}`)
  return parts.filter(Boolean).join('  ')
}

export function showTrace(display: Display, spans: readonly ReceivedSpan[]) {
  const totals = sumSpans(spans)
  const { model_calls, tool_calls, engine_runs, input_tokens, output_tokens, cost_usd } = totals
  const cost = cost_usd === null ? 'cost not known' : dollars(cost_usd)
  const project = spans[0]?.project ?? 'none'
  display.line(
    `${display.paint('bold', 'trace'.padEnd(13))} project ${project}: ${model_calls} model calls, ` +
      `${tool_calls} tool calls, ${engine_runs} engine runs, ${input_tokens} + ${output_tokens} tokens, ${cost}`,
  )
  for (const line of renderTrace(spans)) display.line(display.paint(line.includes('  error: ') ? 'red' : 'gray', line))
  display.line()
  return totals
}
