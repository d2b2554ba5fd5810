import { type Conversation, call, type Reply } from './conversation.ts'
import { decompose } from './drift.ts'
import { filterRequest } from './filter.ts'
import { generate } from './generator.ts'
import { importAddresses } from './import.ts'
import { auditPlan, planReport } from './plan.ts'
import { findRecording } from './recordings.ts'
import { applyReport, driftReport, importReport } from './reports.ts'
import { targets } from './targets.ts'
import { compose, pullRequest, statusText } from './words.ts'

/** The script of each chain. Chains are told apart by the tool that ends them. */
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

/** Decides what the scripted model answers. It depends on the request alone. */
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
    calls: [call('report_intent_statements', { statements: findRecording(request)?.statements(request) ?? [] })],
  }
}
