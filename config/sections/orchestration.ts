import * as v from 'valibot'
import { flag, integer, text } from '../fields.ts'
import type { Source } from '../source.ts'
import type { OrchestrationConfig } from '../types.ts'

export const orchestrationSchema = v.object({
  enable_compliance_checker: flag(false),
  block_on_high_impact: flag(false),
  max_drift_reports: integer(3, { min: 0 }),
  max_validation_iteration: integer(8, { min: 0 }),
  max_import_iteration: integer(5, { min: 0 }),
  max_tool_agent_executions: integer(40, { min: 1 }),
  max_session_events_iteration: integer(2160, { min: 0 }),
  drift_group_operations: integer(8, { min: 1 }),
  pull_request_readiness_seconds: integer(10, { min: 0 }),
  rules_file: text(''),
})

/** Reads the section without `rules`, which come from the file that `rules_file` names. */
export const readOrchestration = (source: Source): Omit<OrchestrationConfig, 'rules'> =>
  source.section('orchestration', orchestrationSchema).values
