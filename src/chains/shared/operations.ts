import * as v from 'valibot'
import type { Tool } from '../../agent/agent-request.ts'
import { createResultTool } from '../../agent/result-tool.ts'
import type { Logger } from '../../base/log.ts'
import { fence } from '../../prompts/layout.ts'
import { explanation, textList } from './result-fields.ts'

/** The common parts of the task splitter, the two drift filters and the import filter. */

const describeSchema = (operations: string, words: string) =>
  v.object({ operations: textList(operations), explanation: explanation(words) })

type Operations = v.InferOutput<ReturnType<typeof describeSchema>>

/** @param described the two fields, when they are not about a list of operations */
export const createOperationsTool = (
  described = {
    tool: 'Report the list of operations.',
    operations: 'Self-contained operations in plain language, one per entry; may be empty',
    explanation: 'What was left out and why',
  },
): Tool<Operations> =>
  createResultTool({
    name: 'report_decomposed_task_operations',
    description: described.tool,
    schema: describeSchema(described.operations, described.explanation),
  })

export const FINISH_WITH_OPERATIONS =
  'Call `report_decomposed_task_operations` once with `operations` (it may be empty) and an `explanation`.'

/** Returns the query of both drift filters, which asks for the operations that stay. */
export const writeFilterQuery = (operations: readonly string[]) =>
  `Filter these operations.\n\n${fence('operations, a JSON array of strings', JSON.stringify(operations))}`

/** Limits a filter to as many entries as were sent; of more, unchanged ones are kept first. */
export function limitToSent(sent: readonly string[], answered: readonly string[], log: Pick<Logger, 'warn'>): string[] {
  const unique = [...new Set(answered)]
  if (unique.length <= sent.length) return unique
  log.warn('a filter answered more operations than it was given', { sent: sent.length, answered: unique.length })
  const known = unique.filter((operation) => sent.includes(operation))
  const trimmed = unique.filter((operation) => !sent.includes(operation))
  return [...known, ...trimmed].slice(0, sent.length)
}
