import { renderLayout } from '../prompts/layout.ts'
import { showDiff } from './shared/branch-diff.ts'
import { defineChain } from './shared/chain.ts'
import { createOperationsTool, FINISH_WITH_OPERATIONS, limitToSent, writeFilterQuery } from './shared/operations.ts'

interface ReconciliationValues {
  operations: readonly string[]
  /** Diff of the session's branch from the workspace. */
  diff: string
}

/** Removes operations that would only undo changes of this session, and trims mixed ones. */
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
          'drop it.',
        'An operation about an address or attribute that the diff does not touch is genuine drift: keep it word ' +
          'for word.',
        'A mixed one is trimmed to the attributes that the diff does not touch; change nothing else in its text.',
        'In doubt, drop it: undoing the work of the user is worse than leaving drift for a drift session.',
        'Never add an operation.',
      ],
      finish: FINISH_WITH_OPERATIONS,
    }),
  query: ({ operations, diff }: ReconciliationValues) => `${writeFilterQuery(operations)}\n\n${showDiff(diff)}`,
  tools: ['inspection'],
  resultTool: () => createOperationsTool(),
  read: (answer, { values, log }) => limitToSent(values.operations, answer.operations, log),
})
