import { BodyTooLarge, type Running, type ServerAnswer, startServer } from '../server.ts'
import { decompose } from './answers/drift.ts'
import { filterRequest } from './answers/filter.ts'
import { generate } from './answers/generator.ts'
import { importAddresses } from './answers/import.ts'
import { auditPlan, planReport } from './answers/plan.ts'
import { applyReport, driftReport, importReport } from './answers/reports.ts'
import { targets } from './answers/targets.ts'
import { compose, pullRequest, statusText } from './answers/words.ts'
import { type Conversation, oneCall, type Reply, readConversation } from './conversation.ts'
import { findRecording } from './recordings.ts'
import { dialectOf, usualDialect } from './wires.ts'

export const MODEL = 'scripted-model'

/**
 * Starts a server that plays recorded work, as the model name in its answers says. It speaks chat completions at `/v1`,
 * the Messages API at `/anthropic/v1` and `generateContent` at `/gemini/v1beta`. It is stateless: the same conversation
 * always gets the same reply.
 */
export const startScriptedModel = (options: { port?: number } = {}): Promise<Running> =>
  startServer({
    port: options.port,
    maxBodyBytes: 64 * 1024 * 1024,
    respond: async ({ method, path, body }) => {
      const dialect = dialectOf(path)
      if (method === 'GET' && path === '/v1/models')
        return {
          status: 200,
          body: { object: 'list', data: [{ id: MODEL, object: 'model', owned_by: 'embedded-stack' }] },
        }
      if (method !== 'POST' || !dialect) return refuse(404, path, 'only chat completions are served here')
      const question = dialect.read(JSON.parse((await body()).toString('utf8')) as Record<string, unknown>)
      return { status: 200, body: dialect.answer(question, decide(readConversation(question)), MODEL) }
    },
    fail: (error, { path }) =>
      error instanceof RangeError
        ? refuse(400, path, error.message)
        : refuse(error instanceof BodyTooLarge ? 413 : 400, path, 'the body could not be read'),
  })

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
