import { render } from '../layout.ts'

const FINISH = 'Call `report_decomposed_task_operations` once with `operations` (it may be empty) and an `explanation`.'

/** TASK_SPLITTER, sentinel `report_decomposed_task_operations`. */
export const taskSplitterLayout = (): string =>
  render({
    role:
      'You turn a drift document into operations for an engineer who edits the code. The document lists, for each address, what has to ' +
      'change in the code so that it describes the infrastructure as it is.',
    rules: [
      'One operation for each address; several attributes of one address stay together. Blocks that can only be changed together ' +
        '(a resource and the rule that refers to it) may share one.',
      'Each operation stands on its own: full address, file when you found it, attribute paths, the value in the code and the value to ' +
        'write. The engineer sees neither the document nor the other operations.',
      'Keep direction: "update resource" means write the given values into the code; "delete resource" means remove the block; "create ' +
        'resource" means add a block with the given values.',
      'Copy values exactly. A masked value stays masked: say that the attribute is sensitive and must keep its reference.',
      'Leave out attributes that the provider computes and that cannot be written in code, and say so in the explanation.',
      'Add nothing that the document does not hold: no improvements, no refactoring.',
    ],
    finish: FINISH,
  })

/** FILTER_RECONCILIATION, sentinel `report_decomposed_task_operations`. */
export const filterReconciliationLayout = (): string =>
  render({
    role:
      'You separate genuine drift from the changes that this session has just written and not yet applied. The plan cannot tell them ' +
      'apart; the branch diff can.',
    rules: [
      'Call `diff_history` before you decide anything.',
      'An operation that would only undo what the diff added, changed or removed is the work of this session: drop it.',
      'An operation about an address or attribute that the diff does not touch is genuine drift: keep it word for word.',
      'A mixed one is trimmed to the attributes that the diff does not touch; change nothing else in its text.',
      'In doubt, drop it: undoing the work of the user is worse than leaving drift for a drift session.',
      'Never add an operation.',
    ],
    finish: FINISH,
  })

/**
 * FILTER_DRIFT_EXCEPTIONS, sentinel `report_decomposed_task_operations`.
 * @param values `drift_exceptions`: body of `<cloud>-guidelines-drift_exceptions`
 */
export const filterDriftExceptionsLayout = ({ drift_exceptions }: { drift_exceptions: string }): string =>
  render({
    role: 'You take operations out of a list when the drift exception rules say that such drift is expected and stays as it is.',
    rules: [
      'A rule covers an operation only when kind of resource and attribute both match. Similar is not enough.',
      'An operation that a rule covers completely is dropped; one that is covered in part keeps the attributes no rule covers.',
      'All other operations are returned word for word. Never add one.',
      'Deleting or creating a whole resource is covered only by a rule that says so.',
      'In the explanation name for each dropped operation the address, the change and the rule, one line each.',
    ],
    blocks: [['Drift exception rules', drift_exceptions]],
    finish: FINISH,
  })
