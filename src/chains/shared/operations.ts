import * as v from 'valibot'
import type { Tool } from '../../agent/agent-request.ts'
import { createResultTool } from '../../agent/result-tool.ts'
import type { Logger } from '../../base/log.ts'
import { namesAddress } from '../../plan/addresses.ts'
import { type DriftOperation, listDifferences } from '../../plan/drift.ts'
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

/** The tool of both drift filters, which answer numbers in place of operations. */
export const createNumbersTool = () =>
  createOperationsTool({
    tool: 'Report which operations stay.',
    operations: 'Numbers of what stays, one per entry, such as "2" or "2.1"; may be empty',
    explanation: 'What was left out and why',
  })

export const FINISH_WITH_NUMBERS =
  'Call `report_decomposed_task_operations` once with `operations`, the numbers of what stays and no other text: `"2"` ' +
  'for a whole operation, `"2.1"` for one attribute of it. It may be empty. Add an `explanation`.'

/** What both drift filters are given. */
export interface Filtered {
  /** Operations in plain language, or drift operations as JSON. */
  operations: readonly string[]
  /** The drift that they are about, from which their attributes are known. */
  drift: readonly DriftOperation[]
}

/** What stays of an operation: all of it, or the paths of some attributes; an empty list when nothing does. */
export type Kept = 'all' | readonly string[]

/**
 * Returns the attributes by which an operation can be divided: those that it names, when it is about one drifted address
 * and about several of its attributes.
 */
function divisibleAttributes(operation: string, drift: readonly DriftOperation[]): string[] {
  const [only, ...more] = drift.filter(({ address }) => namesAddress(operation, address))
  if (only?.action !== 'update resource' || more.length > 0) return []
  const named = listDifferences(only.changes).filter(({ path }) => path !== '' && namesAddress(operation, path))
  return named.length > 1 ? named.map(({ path }) => path) : []
}

/** Returns the query of both drift filters, which asks for the numbers of the operations that stay. */
export function writeFilterQuery({ operations, drift }: Filtered): string {
  const numbered = operations.map((operation, index) => {
    const paths = divisibleAttributes(operation, drift)
    const attributes = Object.fromEntries(paths.map((path, at) => [`${index + 1}.${at + 1}`, path]))
    return `"${index + 1}": ${JSON.stringify(paths.length > 0 ? { operation, attributes } : operation)}`
  })
  return `Filter these operations.\n\n${fence('operations by number, JSON', `{\n${numbered.join(',\n')}\n}`)}`
}

/**
 * Reads the numbers that a filter answered, for each operation in the order in which they were sent. The text of a sent
 * operation stands for its number; what is neither is logged.
 * @param isKeptInDoubt true if an answer that cannot be read leaves out nothing; else only what cannot be read is ignored
 */
export function readKept(
  { operations, drift }: Filtered,
  answered: readonly string[],
  { isKeptInDoubt, log }: { isKeptInDoubt: boolean; log: Pick<Logger, 'warn'> },
): Kept[] {
  const attributes = operations.map((operation) => divisibleAttributes(operation, drift))
  const known = new Set([
    ...operations.flatMap((operation, index) => [operation, String(index + 1)]),
    ...attributes.flatMap((paths, index) => paths.map((_, at) => `${index + 1}.${at + 1}`)),
  ])
  const unread = answered.filter((entry) => !known.has(entry)).length
  if (unread > 0) log.warn('a filter answered what is no number of an operation', { unread })
  if (unread > 0 && isKeptInDoubt) return operations.map(() => 'all')
  const said = new Set(answered)
  return operations.map((operation, index) => {
    const all = attributes[index] ?? []
    const paths = all.filter((_, at) => said.has(`${index + 1}.${at + 1}`))
    const isWhole =
      said.has(operation) || said.has(String(index + 1)) || (paths.length > 0 && paths.length === all.length)
    return isWhole ? 'all' : paths
  })
}

/** Returns the operations that stay, word for word; one that stays in part is followed by what is not to be written. */
export const keptOperations = ({ operations, drift }: Filtered, kept: readonly Kept[]): string[] =>
  operations.flatMap((operation, index) => {
    const paths = kept[index] ?? []
    if (paths === 'all') return operation
    if (paths.length === 0) return []
    const others = divisibleAttributes(operation, drift).filter((path) => !paths.includes(path))
    return `${operation} (Write only ${paths.join(', ')}. The code keeps ${others.join(', ')} as it is.)`
  })
