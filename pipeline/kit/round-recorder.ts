import type { Json } from '../../src/base/json.ts'
import type { Logger } from '../../src/base/log.ts'
import { createMasker, type Masker } from '../../src/base/masking.ts'
import type { InferenceRequest, LlmClient, Message } from '../../src/llm/inference.ts'
import { type PlanCounts, toReportCounts } from '../../src/plan/actions.ts'
import { chainOf, RECORDING_VERSION, type RecordedError, type RecordedRound, sealLine } from './recording.ts'

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

/** Masks an entry in its written form, as `JSON.parse` reads it. */
function maskEntry(entry: object, maskers: readonly Masker[]): Json {
  const plain: Json = JSON.parse(JSON.stringify(entry))
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
    ...(llm.canSearch && { canSearch: llm.canSearch }),
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
