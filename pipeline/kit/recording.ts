import * as v from 'valibot'
import { sha256Hex } from '../../src/base/bytes.ts'
import { type Json, parseExactly, parseJson } from '../../src/base/json.ts'
import type { Logger } from '../../src/base/log.ts'
import { createMasker, type Masker } from '../../src/base/masking.ts'
import type { InferenceRequest, LlmClient, Message } from '../../src/llm/inference.ts'
import { type PlanCounts, toReportCounts } from '../../src/plan/actions.ts'

/** The version of the recording format: JSON lines for the `round`, its calls and searches, and its `end`. */
const RECORDING_VERSION = 1

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
  finish: v.nullable(v.picklist(['end_turn', 'tool_use', 'max_tokens', 'content_filter', 'repetition'])),
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
  const entry = parseJson(body)
  if (entry === undefined) throw new RecordingError(`Line ${number} of the recording is no JSON.`)
  const parsed = v.safeParse(lineSchema, entry)
  if (parsed.success) return parsed.output
  const [issue] = parsed.issues
  throw new RecordingError(
    `Line ${number} of the recording: ${[v.getDotPath(issue), issue.message].filter(Boolean).join(': ')}`,
  )
}

export type Chain = ReturnType<typeof chainOf>

/** Returns the chain of a request, identified by its last tool, which ends the chain; `text` without tools. */
export function chainOf({ role, tools = [] }: Pick<InferenceRequest, 'role' | 'tools'>) {
  return { chain: tools.at(-1)?.name ?? 'text', role, tools: tools.map(({ name }) => name) }
}

export type RoundRecorder = ReturnType<typeof createRoundRecorder>
/** The recording of one attempt at a round. No method throws; write failures are logged. */
export type RoundRecording = ReturnType<RoundRecorder['round']>

/** Maximum characters of one recording. Later calls are left out, and the last line notes that. */
const MAX_CHARS = 200_000_000
const MIN_SECRET = 6

/**
 * Creates a recorder that writes at the end of a round, when all sensitive values are known.
 * @param options.write stores a finished recording under a file name
 * @param options.secrets those of the configuration, which are masked from six characters on
 */
export function createRoundRecorder(options: {
  write(name: string, text: string): Promise<void>
  log: Logger
  secrets: readonly string[]
}) {
  const { write, log, secrets } = options
  const configured = createMasker(secrets.filter(({ length }) => length >= MIN_SECRET))
  return {
    /** Starts the recording of one attempt at a round, with `facts` as first line. */
    round: (facts: RecordedRound) => {
      const tape = createTape()
      const maskers: Masker[] = [configured]
      const statuses: string[] = []
      const plans: PlanCounts[] = []
      let closed = false
      return {
        /** Records requests and replies, to be wrapped by masking. `masker` masks the file at the end of the round. */
        client: (llm: LlmClient, masker: Masker) => {
          maskers.push(masker)
          return createRecordingClient(llm, tape)
        },
        addStatus: (status: string) => void statuses.push(status),
        addPlan: (counts: PlanCounts) => void plans.push(counts),
        /** Writes the file once. `end` is null when another worker will continue the round. */
        close: async (end: { status: string; message: string } | null) => {
          if (closed) return
          closed = true
          const name = `${facts.session}-round-${facts.round}-attempt-${facts.attempt}.jsonl`
          try {
            const first = { kind: 'round', version: RECORDING_VERSION, ...facts }
            const last = {
              kind: 'end',
              calls: tape.entries.length,
              cut: tape.cut(),
              statuses,
              plans: plans.map(toReportCounts),
              end,
            }
            const lines = await Promise.all(
              [first, ...tape.entries, last].map((entry) => sealLine(maskEntry(entry, maskers))),
            )
            await write(name, `${lines.join('\n')}\n`)
          } catch (error) {
            log.error('the recording of a round was not written', { error })
          }
        },
      }
    },
  }
}

type Tape = ReturnType<typeof createTape>

function createTape() {
  const entries: object[] = []
  let size = 0
  return {
    entries,
    add: (entry: object) => {
      size += JSON.stringify(entry).length
      if (size <= MAX_CHARS) entries.push(entry)
    },
    cut: () => size > MAX_CHARS,
  }
}

/** Masks an entry in its written form, as `parseExactly` reads it. */
function maskEntry(entry: object, maskers: readonly Masker[]): Json {
  const plain = parseExactly(JSON.stringify(entry))
  return maskers.reduce((value, masker) => masker.json(value), plain)
}

function createRecordingClient(llm: LlmClient, tape: Tape): LlmClient {
  const recordCall = async <T>(about: object, work: () => Promise<T>, answerOf: (answer: T) => object): Promise<T> => {
    const began = performance.now()
    const took = () => ({ duration_ms: Math.round(performance.now() - began) })
    try {
      const answer = await work()
      tape.add({ ...about, ...took(), ...answerOf(answer) })
      return answer
    } catch (error) {
      tape.add({ ...about, ...took(), error: plainError(error) })
      throw error
    }
  }
  return {
    ...llm,
    complete: (request) =>
      recordCall(
        { kind: 'complete', ...chainOf(request), request: plainRequest(request) },
        () => llm.complete(request),
        ({ carry: _, ...answer }) => ({ answer }),
      ),
    search: async (query, options = {}) => {
      const used: object[] = []
      const observe: typeof options.observe = (what) => {
        used.push(what)
        options.observe?.(what)
      }
      return await recordCall(
        { kind: 'search', query },
        () => llm.search(query, { ...options, observe }),
        (answer) => ({ answer, ...(used[0] && { used: used[0] }) }),
      )
    },
  }
}

/** Copies the request, because the agent continues to extend the same list of messages. */
function plainRequest({ messages, temperature, thinking }: InferenceRequest): object {
  return {
    messages: messages.map(withoutCarry),
    ...(temperature !== undefined && { temperature }),
    ...(thinking && { thinking }),
  }
}

function withoutCarry(message: Message): Message {
  if (message.role !== 'assistant') return { ...message }
  const { carry: _, ...rest } = message
  return structuredClone(rest)
}

function plainError(error: unknown): RecordedError {
  if (!(error instanceof Error)) return { name: 'Error', message: 'unknown error' }
  const { code, status } = error as { code?: unknown; status?: unknown }
  return {
    name: error.name,
    message: error.message,
    ...(typeof code === 'string' && { code }),
    ...(typeof status === 'number' && { status }),
  }
}
