import { decompose } from './answers/drift.ts'
import { filterRequest } from './answers/filter.ts'
import { generate } from './answers/generator.ts'
import { importAddresses } from './answers/import.ts'
import { auditPlan, planReport } from './answers/plan.ts'
import { applyReport, driftReport, importReport } from './answers/reports.ts'
import { targets } from './answers/targets.ts'
import { compose, pullRequest, statusText } from './answers/words.ts'
import { type Conversation, call, type Reply } from './conversation.ts'
import { findRecording } from './recordings.ts'

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
  return {
    calls: [call('report_intent_statements', { statements: findRecording(request)?.statements ?? [] })],
  }
}
