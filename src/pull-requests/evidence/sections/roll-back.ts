import type { Evidence } from '../evidence.ts'
import { reviewedChanges } from '../reviewed-changes.ts'
import { blocks, type Section, section } from '../section.ts'
import { describeRevert } from './revert.ts'

const MAX_NAMED = 20
const FEW_NAMED = 5

/** Describes from the plan how to undo the change, and where that is unsafe; null without changes. */
export function rollBackSection(evidence: Evidence): Section | null {
  const steps = listSteps(evidence)
  if (steps.length === 0) return null
  const changes = reviewedChanges(evidence)
  const numbered = steps.map((step, index) => `${index + 1}. ${step}`).join('\n')
  const form = (max: number) => blocks(numbered, changes && describeRevert(changes, max))
  return section('How to roll back', form(MAX_NAMED), form(FEW_NAMED), form(0))
}

const REVERT =
  'revert the merge commit through a pull request of its own (`git revert -m 1 MERGE_COMMIT`; without `-m 1` for a ' +
  'squashed one).'

function listSteps(evidence: Evidence): string[] {
  const { generate, drift, import: imported, rounds } = evidence
  const steps: string[] = []
  if (generate) steps.push(...planSteps(evidence))
  else if (drift || imported) steps.push('Before the merge: close this pull request.', `Once merged: ${REVERT}`)
  if (drift || rounds.some(({ status, result }) => status === 'completed' && (result?.drift.length ?? 0) > 0))
    steps.push(
      'The code followed the infrastructure where that had drifted: without this code, the next plan sets those ' +
        'resources back to what the code said before.',
    )
  if (imported)
    steps.push(
      'What the import took in is in the state already, whether this pull request is merged or not. Take it out ' +
        '(`state rm` of the engine, or a `removed` block with `destroy = false`) before code without its blocks is ' +
        'planned, or that plan destroys it.',
    )
  return steps
}

const REAPPLY =
  'a revert changes the code alone. Open a session on the reverted code, let a generate round plan it, review and ' +
  'apply.'

function planSteps({ apply, generate }: Evidence): string[] {
  const ran = apply !== null && generate !== null && apply.round > generate.round
  const afterApply = `Once applied: ${REAPPLY}`
  if (ran && apply.document?.status !== 'Failed')
    return [
      'Before the merge: closing this pull request undoes nothing, because the plan was applied. The default branch ' +
        'is then what it is after a revert: any plan of it does what is said below of a revert.',
      `After the merge: ${REAPPLY}`,
    ]
  if (ran)
    return [
      'Before the merge: close this pull request, and see above what is known of the apply: closing undoes nothing ' +
        'of it.',
      `Once merged: ${REVERT}`,
      afterApply,
    ]
  const earlier =
    apply &&
    `Round ${apply.round} applied an earlier plan of this session. Closing this pull request undoes nothing of it, ` +
      'and what follows is about the latest plan alone.'
  return [
    ...(earlier ? [earlier] : []),
    `Before the merge: close this pull request. Unless the session applies its plan, ${
      earlier ? 'that plan has changed nothing' : 'nothing has changed'
    }.`,
    `Once merged and not applied: ${REVERT} That is enough.`,
    afterApply,
  ]
}
