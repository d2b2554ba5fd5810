import {
  type DecomposedOperations,
  decomposedOperationsTool,
} from '../../../src/agent/sentinels/decomposed-operations.ts'
import { namesResource } from '../../../src/plan/addresses.ts'
import type { DriftOperation } from '../../../src/plan/drift.ts'
import {
  filterDriftExceptionsLayout,
  filterReconciliationLayout,
  taskSplitterLayout,
} from '../../../src/prompts/layouts/drift.ts'
import { filterQuery, splitQuery } from '../../../src/prompts/queries.ts'
import { type Kit, promptBodies, runChain } from '../../kit/kit.ts'
import { inspection, webSearch } from '../../kit/tools.ts'

/** Drift as operations in plain language. A splitter that finds none leaves every entry as it is. */
export async function splitDrift(kit: Kit, drift: readonly DriftOperation[]): Promise<string[]> {
  const { operations } = await runChain(kit, {
    chain: 'TASK_SPLITTER',
    role: 'main',
    system: taskSplitterLayout(),
    query: splitQuery(JSON.stringify(drift, null, 2)),
    tools: [...inspection(kit), webSearch(kit, 'main')],
    resultTool: decomposedOperationsTool(),
  })
  return operations.length > 0
    ? aboutDrift(kit, drift, operations)
    : drift.map((operation) => JSON.stringify(operation))
}

/** Operations that one address may be split into. */
const MAX_PER_ADDRESS = 32

/**
 * A splitter may not add work: where it names what drifted, entries that name none of it are left out, and so is what
 * goes beyond the limit for each address. What that costs is read again as drift.
 */
function aboutDrift({ run }: Kit, drift: readonly DriftOperation[], operations: readonly string[]): string[] {
  const unique = [...new Set(operations)]
  const named = unique.filter((operation) => drift.some(({ address }) => namesResource(operation, address)))
  const kept = (named.length > 0 ? named : unique).slice(0, drift.length * MAX_PER_ADDRESS)
  if (kept.length < unique.length)
    run.log.warn('the splitter answered operations about nothing that drifted, or too many', {
      answered: unique.length,
      kept: kept.length,
    })
  return kept
}

/** Leaves out what this session itself changed; operations that are mixed come back trimmed. */
export async function dropSessionChanges(kit: Kit, operations: readonly string[]): Promise<string[]> {
  const answer = await runChain(kit, {
    chain: 'FILTER_RECONCILIATION',
    role: 'small',
    system: filterReconciliationLayout(),
    query: filterQuery(operations),
    tools: inspection(kit),
    resultTool: decomposedOperationsTool(),
  })
  return shrunk(kit, operations, answer)
}

/** What the exception filter made of a list of operations. */
export interface Exceptions {
  /** What is left to do. */
  operations: string[]
  /** The answer as it was given, for comparison with what was sent. */
  answered: string[]
  /** What was left out and why, in the words of the filter; null when nothing was. */
  note: string | null
}

const UNEXPLAINED = 'Covered by the drift exception rules; the filter gave no explanation.'

/** Leaves out what an exception rule covers. */
export async function dropExceptions(kit: Kit, operations: readonly string[]): Promise<Exceptions> {
  const { run } = kit
  const [drift_exceptions] = await promptBodies(run, `${run.round.session.provider}-guidelines-drift_exceptions`)
  const answer = await runChain(kit, {
    chain: 'FILTER_DRIFT_EXCEPTIONS',
    role: 'small',
    system: filterDriftExceptionsLayout({ drift_exceptions }),
    query: filterQuery(operations),
    resultTool: decomposedOperationsTool(),
  })
  const left = shrunk(kit, operations, answer)
  const unchanged = left.length === operations.length && left.every((operation) => operations.includes(operation))
  const note = unchanged ? null : kit.secrets.text(answer.explanation).trim() || UNEXPLAINED
  return { operations: left, answered: answer.operations, note }
}

/** A filter may drop and trim, never add: an answer of more entries than were sent is cut. */
function shrunk({ run }: Kit, sent: readonly string[], answer: DecomposedOperations): string[] {
  const unique = [...new Set(answer.operations)]
  if (unique.length <= sent.length) return unique
  run.log.warn('a filter answered more operations than it was given', { sent: sent.length, answered: unique.length })
  const known = unique.filter((operation) => sent.includes(operation))
  const trimmed = unique.filter((operation) => !sent.includes(operation))
  return [...known, ...trimmed].slice(0, sent.length)
}
