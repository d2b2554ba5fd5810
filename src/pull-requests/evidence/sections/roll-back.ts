import { criticalityOf } from '../../../plan/impact.ts'
import type { GenerateReport } from '../../../reports/schemas.ts'
import { bulletList, capLines, code } from '../markdown.ts'
import { blocks, type Section, section } from '../section.ts'
import type { Evidence } from '../types.ts'

type Entry = GenerateReport['detailed_changes'][number]

const MAX_NAMED = 20
const FEW_NAMED = 5

/** Says how to undo the change and what that cannot bring back; null when the session changed nothing. */
export function rollBackSection(evidence: Evidence): Section | null {
  const steps = listSteps(evidence)
  if (steps.length === 0) return null
  const changes = evidence.generate?.document?.detailed_changes ?? []
  const numbered = steps.map((step, index) => `${index + 1}. ${step}`).join('\n')
  const form = (max: number) => blocks(numbered, ...listLosses(changes, max))
  return section('How to roll back', form(MAX_NAMED), form(FEW_NAMED))
}

const REVERT =
  'Once merged: revert the merge commit through a pull request of its own (`git revert -m 1 MERGE_COMMIT`; ' +
  'without `-m 1` for a squashed one).'

function listSteps(evidence: Evidence): string[] {
  const { generate, drift, import: imported } = evidence
  const steps: string[] = []
  if (generate) steps.push(beforeMergeStep(evidence), REVERT, reapplyStep(generate.document?.summary ?? null))
  else if (drift || imported) steps.push('Before the merge: close this pull request.', REVERT)
  if (drift)
    steps.push(
      'The code followed the infrastructure: after a revert the next plan sets remediated resources back to ' +
        'what the code said before.',
    )
  if (imported)
    steps.push(
      'Imported resources are in the state. Take them out (`state rm` of the engine, or a `removed` block ' +
        'that does not destroy) before the reverted code is planned, or that plan destroys them.',
    )
  return steps
}

function beforeMergeStep({ apply, generate }: Evidence): string {
  const ran = apply !== null && generate !== null && apply.round > generate.round
  if (!ran)
    return 'Before the merge: close this pull request. Unless the session applies its plan, nothing has changed.'
  if (apply.document?.status === 'Failed')
    return (
      'Before the merge: close this pull request, and see above what is known of the apply: closing undoes ' +
      'nothing of it.'
    )
  return (
    'Before the merge: closing this pull request undoes nothing, because the plan was applied. Go on with the ' +
    'last step, on the default branch.'
  )
}

function reapplyStep(summary: GenerateReport['summary'] | null): string {
  const step = 'Once applied: open a session on the reverted code, let a generate round plan it, review and apply'
  if (!summary) return `${step}.`
  const effects = [
    summary.create > 0 && `destroys the ${summary.create} created`,
    summary.update > 0 && `changes the ${summary.update} updated back`,
    summary.delete > 0 && `creates the ${summary.delete} deleted anew`,
    summary.recreate > 0 && `recreates the ${summary.recreate} recreated once more`,
  ].filter(Boolean)
  return effects.length > 0 ? `${step}. That ${effects.join(', ')}.` : `${step}.`
}

/** What a roll-back loses. It is computed from the actions and types of the plan, not written by a model. */
function listLosses(changes: readonly Entry[], max: number): string[] {
  const gone = changes.filter(({ action }) => action === 'delete' || action === 'recreate')
  const holding = gone.filter(({ name }) => criticalityOf(resourceTypeOf(name)) === 'data')
  const access = gone.filter(({ name }) => criticalityOf(resourceTypeOf(name)) === 'access')
  const rest = gone.filter((change) => !holding.includes(change) && !access.includes(change))
  const fresh = changes.filter(
    ({ name, action }) => action === 'create' && criticalityOf(resourceTypeOf(name)) === 'data',
  )
  return [
    listChanges('**Cannot be undone** without a backup: the content of', holding, max),
    listChanges('Comes back with new keys and identities, which its users must be given anew:', access, max),
    listChanges('Comes back as a new object, with new identifiers:', rest, max),
    listChanges('Rolling back destroys these new objects with everything stored in them by then:', fresh, max),
    gone.length === 0 && changes.length > 0 ? 'The plan destroys and recreates nothing.' : '',
  ].filter((part) => part !== '')
}

const listChanges = (lead: string, changes: readonly Entry[], max: number): string =>
  changes.length === 0
    ? ''
    : blocks(
        lead,
        bulletList(
          capLines(
            changes.map(({ name, action }) => `${code(name)} (${action})`),
            max,
          ),
        ),
      )

/** The type in a resource's address, which follows its modules: `aws_vpc` in `module.net["a"].aws_vpc.main`. */
function resourceTypeOf(address: string): string {
  const bare = address.replaceAll(/\["(?:\\.|[^"\\])*"\]|\[\d+\]/g, '')
  return bare.replace(/^(?:module\.[^.]+\.)+/, '').split('.')[0] ?? ''
}
