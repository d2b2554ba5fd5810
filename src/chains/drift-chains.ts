import type { Logger } from '../base/log.ts'
import { namesResource } from '../plan/addresses.ts'
import type { FileDiff } from '../plan/code/compare.ts'
import type { DriftOperation } from '../plan/drift.ts'
import { fence, renderLayout } from '../prompts/layout.ts'
import { showDiff } from './shared/branch-diff.ts'
import { defineChain } from './shared/chain.ts'
import {
  createNumbersTool,
  createOperationsTool,
  FINISH_WITH_NUMBERS,
  FINISH_WITH_OPERATIONS,
  type Filtered,
  type Kept,
  keptOperations,
  readKept,
  writeFilterQuery,
} from './shared/operations.ts'

interface SplitterValues {
  drift: readonly DriftOperation[]
  /** The request of a partial round, masked; null when all drift is to be taken over. */
  request: string | null
}

/**
 * Turns drift into operations in plain language. When the model finds none, every entry of the drift is one, except in a
 * partial round, whose request may be about none of them.
 */
export const taskSplitter = defineChain({
  name: 'TASK_SPLITTER',
  role: 'main',
  system: (_, { request }: SplitterValues) =>
    renderLayout({
      role:
        'You turn a drift document into operations for an engineer who edits the code. The document lists, for ' +
        'each address, what has to change in the code so that it describes the infrastructure as it is.',
      rules: [
        'One operation for each address; several attributes of one address stay together. Blocks that can only ' +
          'be changed together (a resource and the rule that refers to it) may share one.',
        'Each operation stands on its own: full address, attribute paths, the value in the code (`old_value`) and ' +
          'the value to write (`new_value`). The engineer sees the operations and not the document, has the ' +
          'files and finds the place: read files only when an operation could not be understood otherwise.',
        'Keep direction: "update resource" means write the given values into the code; "delete resource" means ' +
          'remove the block; "create resource" means add a block with the given values.',
        'An address with an index (`x.y["a"]`, `x.y[2]`) is one instance of several: say so, and that the keys or the ' +
          'number behind `for_each` or `count` change, never that the block goes.',
        'Copy values exactly. A masked value stays masked: say that the attribute is sensitive and must keep its ' +
          'reference.',
        'Leave out attributes that the provider computes and that cannot be written in code, and say so in the ' +
          'explanation.',
        'Add nothing that the document does not hold: no improvements, no refactoring.',
        ...(request === null ? [] : [ONLY_REQUESTED]),
      ],
      finish: FINISH_WITH_OPERATIONS,
    }),
  query: ({ drift, request }) =>
    [
      'Split this drift document into operations.',
      fence('drift document', JSON.stringify(drift, null, 2)),
      ...(request === null ? [] : [fence('request', request)]),
    ].join('\n\n'),
  tools: ['inspection', 'webSearch'],
  resultTool: () => createOperationsTool(),
  read: ({ operations }, { values: { drift, request }, log }) =>
    operations.length > 0 || request !== null
      ? keepAboutDrift(drift, operations, log)
      : drift.map((entry) => JSON.stringify(entry)),
})

const ONLY_REQUESTED =
  'The request names the drift that is to be taken over. An attribute that it does not ask for stays as it is, also in ' +
  'the same block: no operation has it, and the explanation names it. Nothing of the document may be asked for: then ' +
  'there is no operation.'

/** Average number of operations kept per address: with 3 addresses at most 96. */
const MAX_PER_ADDRESS = 32

/** Keeps the splitter from adding work: limits the operations, and drops those without a drifted address. */
function keepAboutDrift(
  drift: readonly DriftOperation[],
  operations: readonly string[],
  log: Pick<Logger, 'warn'>,
): string[] {
  const unique = [...new Set(operations)]
  const aboutDrift = unique.filter((operation) => drift.some(({ address }) => namesResource(operation, address)))
  const kept = (aboutDrift.length > 0 ? aboutDrift : unique).slice(0, drift.length * MAX_PER_ADDRESS)
  if (kept.length < unique.length)
    log.warn('the splitter answered operations about nothing that drifted, or too many', {
      answered: unique.length,
      kept: kept.length,
    })
  return kept
}

interface ReconciliationValues extends Filtered {
  /** Diff of the session's branch from the workspace. */
  diff: readonly FileDiff[]
}

/** Leaves out operations, or attributes of them, that would only undo changes of this session. */
export const filterReconciliation = defineChain({
  name: 'FILTER_RECONCILIATION',
  role: 'small',
  system: () =>
    renderLayout({
      role:
        'You separate genuine drift from the changes that this session has written and not yet applied. The branch ' +
        'diff shows the latter.',
      rules: [
        'An operation that would only undo what the diff added, changed or removed is the work of this session: ' +
          'leave it out.',
        'An operation about an address or attribute that the diff does not touch is genuine drift: it stays.',
        'Of a mixed one, the attributes stay that the diff does not touch.',
        'In doubt, leave it out: undoing the work of the user is worse than leaving drift for a drift session.',
      ],
      finish: FINISH_WITH_NUMBERS,
    }),
  query: (values: ReconciliationValues) => `${writeFilterQuery(values)}\n\n${showDiff(values.diff)}`,
  tools: ['inspection'],
  resultTool: createNumbersTool,
  read: ({ operations }, { values, log }) =>
    keptOperations(values, readKept(values, operations, { isKeptInDoubt: false, log })),
})

export interface Exceptions {
  /** The operations that stay, with the words of those that were sent. */
  operations: string[]
  /** What stays of each operation that was sent. */
  kept: Kept[]
  /** The filter's explanation of its omissions; null when there are none. */
  note: string | null
}

const UNEXPLAINED = 'Covered by the drift exception rules; the filter gave no explanation.'

/** Leaves out operations, or attributes of them, that an exception rule of the organisation covers. */
export const filterDriftExceptions = defineChain({
  name: 'FILTER_DRIFT_EXCEPTIONS',
  role: 'small',
  bodies: (cloud) => ({ driftExceptions: `${cloud}-guidelines-drift_exceptions` }),
  system: ({ driftExceptions }) =>
    renderLayout({
      role:
        'You take operations out of a list when the drift exception rules say that such drift is expected and ' +
        'stays as it is.',
      rules: [
        'A rule covers an operation only when kind of resource and attribute both match. Similar is not enough.',
        'Leave out an operation that a rule covers completely. Of one that is covered in part, the attributes stay ' +
          'that no rule covers; if they have no numbers, it stays whole.',
        'Deleting or creating a whole resource is covered only by a rule that says so.',
        'In the explanation name for everything that is left out the address, the change and the rule, one line each.',
      ],
      blocks: [['Drift exception rules', driftExceptions]],
      finish: FINISH_WITH_NUMBERS,
    }),
  query: (values: Filtered) => writeFilterQuery(values),
  resultTool: createNumbersTool,
  read: ({ operations, explanation }, { values, log, mask }): Exceptions => {
    const kept = readKept(values, operations, { isKeptInDoubt: true, log })
    const note = kept.every((one) => one === 'all') ? null : mask(explanation).trim() || UNEXPLAINED
    return { operations: keptOperations(values, kept), kept, note }
  },
})
