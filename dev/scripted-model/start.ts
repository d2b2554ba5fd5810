import { setTimeout as delay } from 'node:timers/promises'
import { BodyTooLarge, type ServerAnswer, type ServerRequest, startServer } from '../server.ts'
import { decompose } from './answers/drift.ts'
import { filterRequest } from './answers/filter.ts'
import { generate } from './answers/generator.ts'
import { importAddresses } from './answers/import.ts'
import { auditPlan, planReport } from './answers/plan.ts'
import { applyReport, driftReport, importReport } from './answers/reports.ts'
import { targets } from './answers/targets.ts'
import { compose, pullRequest, statusText } from './answers/words.ts'
import { createPrefixMemory, durationOf, layOut, type ModelTimes, type Usage, usageOf } from './clock.ts'
import { type Conversation, oneCall, type Question, type Reply, readConversation } from './conversation.ts'
import { addRecordings, findRecording, type RecordingInput } from './recordings.ts'
import { dialectOf, usualDialect } from './wires.ts'

export const MODEL = 'scripted-model'

export interface ScriptedModelOptions {
  port?: number
  /** The time that answers take; without it they come at once, and nothing counts as cached. */
  times?: ModelTimes
  /** Recorded work beside that of the file. */
  recordings?: readonly RecordingInput[]
  /** Called when an answer was sent, and when its caller did not wait for it. */
  onCall?: (call: PlayedCall) => void
}

/** One call of the scripted model. */
export interface PlayedCall {
  question: Question
  /** Of a stopped call, the output until then. */
  usage: Usage
  /** True if its caller had gone before the end. */
  stopped: boolean
  /** Milliseconds since 1970. */
  began_ms: number
  ended_ms: number
}

export type ScriptedModel = Awaited<ReturnType<typeof startScriptedModel>>

/**
 * Starts a server that plays recorded work, as the model name in its answers says. It speaks chat completions at `/v1`,
 * the Messages API at `/anthropic/v1` and `generateContent` at `/gemini/v1beta`, whole or as a stream. The same
 * conversation always gets the same reply. Only the time of a reply depends on what was sent before.
 */
export async function startScriptedModel({ port, times, recordings = [], onCall }: ScriptedModelOptions = {}) {
  addRecordings(recordings)
  const memory = createPrefixMemory()
  const respond = async ({ method, path, body, gone }: ServerRequest): Promise<ServerAnswer> => {
    const began_ms = Date.now()
    const arrived = performance.now()
    const dialect = dialectOf(path)
    if (method === 'GET' && path === '/v1/models')
      return {
        status: 200,
        body: { object: 'list', data: [{ id: MODEL, object: 'model', owned_by: 'embedded-stack' }] },
      }
    if (method !== 'POST' || !dialect) return refuse(404, path, 'only chat completions are served here')
    const question = dialect.read(JSON.parse((await body()).toString('utf8')) as Record<string, unknown>, path)
    const reply = decide(readConversation(question))
    const usage = usageOf(question, reply, times && memory.add(question.model, layOut(question)))
    const answer = { reply, usage, model: MODEL }
    const { first_ms, output_ms } = durationOf(times ?? AT_ONCE, usage)
    const elapsed = () => performance.now() - arrived
    const until = async (ms: number) => {
      const left = ms - elapsed()
      if (left > 0) await delay(left, undefined, { signal: gone })
    }
    const tell = () => {
      const written = gone.aborted ? Math.min(1, Math.max(0, (elapsed() - first_ms) / output_ms)) : 1
      const told = { ...usage, output: Math.round(usage.output * written) }
      onCall?.({ question, usage: told, stopped: gone.aborted, began_ms, ended_ms: Date.now() })
    }
    if (!question.stream) {
      await until(first_ms + output_ms).finally(tell)
      return { status: 200, body: dialect.answer(answer) }
    }
    const events = dialect.events(answer)
    async function* stream() {
      try {
        for (const [index, event] of events.entries()) {
          await until(first_ms + (output_ms * index) / Math.max(1, events.length - 1))
          yield event
        }
      } finally {
        tell()
      }
    }
    return { status: 200, headers: { 'content-type': 'text/event-stream' }, body: stream() }
  }
  const running = await startServer({
    port,
    maxBodyBytes: 64 * 1024 * 1024,
    respond,
    fail: (error, { path }) =>
      error instanceof RangeError
        ? refuse(400, path, error.message)
        : refuse(error instanceof BodyTooLarge ? 413 : 400, path, 'the body could not be read'),
  })
  return { ...running, /** Forgets what was sent, so that nothing counts as cached. */ forget: memory.clear }
}

const AT_ONCE: ModelTimes = { first_token: 0, input_token: 0, cached_token: 0, output_token: 0 }

const refuse = (status: number, path: string, message: string): ServerAnswer => ({
  status,
  body: (dialectOf(path) ?? usualDialect).error(status, message),
})

/** The script of each chain. A chain is identified by the tool that ends it. */
const SCRIPTS: Record<string, (conversation: Conversation) => Reply> = {
  requests_filter: filterRequest,
  report_intent_statements: reportStatements,
  construct_information: compose,
  task_complete: generate,
  generate_engine_targets: targets,
  report_decomposed_task_operations: decompose,
  import_addresses: importAddresses,
  generate_engine_plan_report: planReport,
  generate_engine_drift_report: driftReport,
  generate_engine_apply_report: applyReport,
  generate_engine_import_report: importReport,
  report_compliance_findings: auditPlan,
  generate_pull_request: pullRequest,
}

/** Makes the answer of the scripted model from the request alone. */
export function decide(conversation: Conversation): Reply {
  const sentinel = Object.keys(SCRIPTS).find((name) => conversation.tools.has(name))
  if (sentinel) return SCRIPTS[sentinel]?.(conversation) ?? {}
  if (conversation.tools.size === 0) return statusText(conversation)
  return { text: 'The scripted model has no recording for this kind of task.' }
}

/** INTENT_CHECK: reports the statements that were recorded with the work; none for other requests. */
function reportStatements({ data }: Conversation): Reply {
  const request = data.get('request') ?? ''
  return oneCall('report_intent_statements', { statements: findRecording(request)?.statements ?? [] })
}
