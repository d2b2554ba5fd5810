import type { Logger } from '../base/log.ts'
import { namesResource } from '../plan/addresses.ts'
import type { DriftOperation } from '../plan/drift.ts'
import { fence } from '../prompts/fence.ts'
import { renderLayout } from '../prompts/layout.ts'
import { defineChain } from './shared/chain.ts'
import { createOperationsTool, FINISH_WITH_OPERATIONS } from './shared/operations.ts'

/** Turns drift into operations in plain language. When the model finds none, every entry of the drift is one. */
export const taskSplitter = defineChain({
  name: 'TASK_SPLITTER',
  role: 'main',
  system: () =>
    renderLayout({
      role:
        'You turn a drift document into operations for an engineer who edits the code. The document lists, for ' +
        'each address, what has to change in the code so that it describes the infrastructure as it is.',
      rules: [
        'One operation for each address; several attributes of one address stay together. Blocks that can only ' +
          'be changed together (a resource and the rule that refers to it) may share one.',
        'Each operation stands on its own: full address, attribute paths, the value in the code (`old_value`) and ' +
          'the value to write (`new_value`). The engineer sees neither the document nor the other operations, but ' +
          'has the files and finds the place: read files only when an operation could not be understood otherwise.',
        'Keep direction: "update resource" means write the given values into the code; "delete resource" means ' +
          'remove the block; "create resource" means add a block with the given values.',
        'Copy values exactly. A masked value stays masked: say that the attribute is sensitive and must keep its ' +
          'reference.',
        'Leave out attributes that the provider computes and that cannot be written in code, and say so in the ' +
          'explanation.',
        'Add nothing that the document does not hold: no improvements, no refactoring.',
      ],
      finish: FINISH_WITH_OPERATIONS,
    }),
  query: ({ drift }: { drift: readonly DriftOperation[] }) =>
    `Split this drift document into operations.\n\n${fence('drift document', JSON.stringify(drift, null, 2))}`,
  tools: ['inspection', 'webSearch'],
  resultTool: () => createOperationsTool(),
  read: ({ operations }, { values: { drift }, log }) =>
    operations.length > 0 ? keepAboutDrift(drift, operations, log) : drift.map((entry) => JSON.stringify(entry)),
})

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
