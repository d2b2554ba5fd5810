import * as v from 'valibot'
import { sha256Hex } from '../../src/base/bytes.ts'
import type { InferenceRequest } from '../../src/llm/inference.ts'

/** The version of the recording format: JSON lines for the `round`, its calls and searches, and its `end`. */
export const RECORDING_VERSION = 1

const usage = v.object({
  input_tokens: v.number(),
  cached_tokens: v.number(),
  output_tokens: v.number(),
  cache_write_tokens: v.exactOptional(v.number()),
})
const toolCall = v.object({ id: v.string(), name: v.string(), arguments: v.string() })
const message = v.variant('role', [
  v.object({ role: v.literal('system'), content: v.string() }),
  v.object({ role: v.literal('user'), content: v.string() }),
  v.object({
    role: v.literal('assistant'),
    content: v.nullable(v.string()),
    tool_calls: v.exactOptional(v.array(toolCall)),
  }),
  v.object({ role: v.literal('tool'), tool_call_id: v.string(), content: v.string() }),
])
const failure = v.object({
  name: v.string(),
  message: v.string(),
  code: v.exactOptional(v.string()),
  status: v.exactOptional(v.number()),
})
const inference = v.object({
  model: v.string(),
  text: v.string(),
  tool_calls: v.array(toolCall),
  finish: v.nullable(v.picklist(['end_turn', 'tool_use', 'max_tokens', 'content_filter'])),
  finish_raw: v.string(),
  usage,
})
const counts = v.object({ create: v.number(), update: v.number(), delete: v.number(), recreate: v.number() })

const lineSchema = v.variant('kind', [
  v.object({
    kind: v.literal('round'),
    version: v.literal(
      RECORDING_VERSION,
      `the recording has a form that is not known here; this is form ${RECORDING_VERSION}`,
    ),
    session: v.string(),
    round: v.number(),
    attempt: v.number(),
    mode: v.string(),
    is_partial: v.boolean(),
    preview: v.exactOptional(v.literal(true)),
    query: v.string(),
    repository: v.string(),
    iac_path: v.nullable(v.string()),
    scope_id: v.string(),
    provider: v.string(),
    models: v.object({ main: v.string(), small: v.string() }),
    recorded_at: v.string(),
  }),
  v.object({
    kind: v.literal('complete'),
    chain: v.string(),
    role: v.picklist(['main', 'small']),
    tools: v.array(v.string()),
    request: v.object({ messages: v.array(message) }),
    answer: v.exactOptional(inference),
    error: v.exactOptional(failure),
  }),
  v.object({
    kind: v.literal('search'),
    query: v.string(),
    answer: v.exactOptional(v.nullable(v.string())),
    used: v.exactOptional(v.object({ model: v.string(), usage })),
    error: v.exactOptional(failure),
  }),
  v.object({
    kind: v.literal('end'),
    calls: v.number(),
    cut: v.boolean(),
    statuses: v.array(v.string()),
    plans: v.array(counts),
    end: v.nullable(v.object({ status: v.string(), message: v.string() })),
  }),
])
type Line = v.InferOutput<typeof lineSchema>
type LineOf<Kind extends Line['kind']> = Extract<Line, { kind: Kind }>
/** The first line of a recording: the round and its start parameters. */
export type RecordedRound = Omit<LineOf<'round'>, 'kind' | 'version'>
export type RecordedError = v.InferOutput<typeof failure>
export type RecordedCompletion = LineOf<'complete'>

/** A recording whose integrity was checked. */
export interface Recording {
  round: RecordedRound
  completions: RecordedCompletion[]
  searches: LineOf<'search'>[]
  /** Statuses and plans of the round in order, and its end. */
  outcome: Pick<LineOf<'end'>, 'statuses' | 'plans' | 'end'>
}

/** Thrown with the place when a file is no recording, or was changed or truncated. */
export class RecordingError extends Error {}

/** Returns the line for an entry. Its last field, `sum`, is the SHA-256 of the others, to detect changes. */
export async function sealLine(entry: unknown): Promise<string> {
  const body = JSON.stringify(entry)
  return `${body.slice(0, -1)},"sum":"${await sha256Hex(body)}"}`
}

/** Reads and checks a recording. Errors: `RecordingError`, with the line number where possible. */
export async function readRecording(text: string): Promise<Recording> {
  const lines: Line[] = []
  for (const [index, line] of text.split('\n').entries())
    if (line.trim() !== '') lines.push(await readLine(line, index + 1))
  const [first] = lines
  const last = lines.at(-1)
  if (first?.kind !== 'round')
    throw new RecordingError('The file is no recording: its first line does not describe a round.')
  if (last?.kind !== 'end')
    throw new RecordingError('The recording is not complete: its last line does not tell how the round ended.')
  const completions = lines.filter((line) => line.kind === 'complete')
  const searches = lines.filter((line) => line.kind === 'search')
  const callCount = completions.length + searches.length
  if (callCount !== last.calls)
    throw new RecordingError(`The recording is not complete: it holds ${callCount} of ${last.calls} calls.`)
  if (last.cut) throw new RecordingError('The recording is not complete: the round was longer than what is kept.')
  const { kind: _, version: __, ...round } = first
  return { round, completions, searches, outcome: { statuses: last.statuses, plans: last.plans, end: last.end } }
}

async function readLine(line: string, number: number): Promise<Line> {
  const seal = /,"sum":"([0-9a-f]{64})"\}$/.exec(line)
  const body = seal ? `${line.slice(0, seal.index)}}` : line
  if (!seal || seal[1] !== (await sha256Hex(body)))
    throw new RecordingError(`Line ${number} of the recording was changed or cut off after it was written.`)
  let entry: unknown
  try {
    entry = JSON.parse(body)
  } catch {
    throw new RecordingError(`Line ${number} of the recording is no JSON.`)
  }
  const parsed = v.safeParse(lineSchema, entry)
  if (parsed.success) return parsed.output
  const [issue] = parsed.issues
  throw new RecordingError(
    `Line ${number} of the recording: ${[v.getDotPath(issue), issue.message].filter(Boolean).join(': ')}`,
  )
}

export interface Chain {
  /** Name of the result tool, or `text` for a chain without tools. */
  chain: string
  role: InferenceRequest['role']
  tools: string[]
}

/** Returns the chain of a request, identified by its last tool, which ends the chain. */
export function chainOf({ role, tools = [] }: Pick<InferenceRequest, 'role' | 'tools'>): Chain {
  return { chain: tools.at(-1)?.name ?? 'text', role, tools: tools.map(({ name }) => name) }
}
