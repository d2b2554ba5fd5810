import * as v from 'valibot'
import { createResultTool } from '../result-tool.ts'
import { explanation, strings } from './fields.ts'

const schema = v.object({
  operations: strings('Self-contained operations in plain language, one per entry; may be empty'),
  explanation: explanation('What was left out and why'),
})

export type DecomposedOperations = v.InferOutput<typeof schema>

/** Ends TASK_SPLITTER, FILTER_RECONCILIATION, FILTER_DRIFT_EXCEPTIONS and IMPORT_FILTER. */
export const decomposedOperationsTool = () =>
  createResultTool({ name: 'report_decomposed_task_operations', description: 'Report the list of operations.', schema })
