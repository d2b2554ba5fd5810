import { toReportAction } from '../../../plan/actions.ts'
import type { ListedChange } from '../../../plan/change-list.ts'
import { criticalityOf } from '../../../plan/impact.ts'
import { bulletList, capLines, code } from '../markdown.ts'
import type { ReviewedChanges } from '../reviewed-changes.ts'
import { blocks, plural } from '../section.ts'

/** Changes on which a revert has the same effect. */
interface Effect {
  lead: string
  changes: ListedChange[]
  show(change: ListedChange): string
}

/** Describes a revert after the apply, naming at most `max` objects of each kind; 0 only counts them. */
export function describeRevert({ entries, total, recorded }: ReviewedChanges, max: number): string {
  const { unsafe, effects } = sortByEffect(entries)
  const parts = [...unsafe, ...effects].filter(({ changes }) => changes.length > 0)
  const harmless = !entries.some(({ action }) => action === 'delete' || action === 'replace')
  return blocks(
    unsafe.some(({ changes }) => changes.length > 0) && 'Once applied, **a revert alone is not safe**:',
    ...parts.map((part) => renderEffect(part, max)),
    inPlace(entries),
    harmless && total > 0 && 'The plan destroys and recreates nothing.',
    total > entries.length && `This is about the first ${entries.length} of ${total} changes.`,
    !recorded &&
      'Moves, imports and forgotten objects of this plan are not on record. A revert of `moved` blocks that were ' +
        'applied destroys and recreates what they moved.',
  )
}

const isGone = ({ action, keeps_old }: ListedChange) => action === 'delete' || (action === 'replace' && !keeps_old)
const criticality = ({ address }: ListedChange) => criticalityOf(resourceTypeOf(address))

function sortByEffect(entries: readonly ListedChange[]): { unsafe: Effect[]; effects: Effect[] } {
  const gone = entries.filter(isGone)
  const created = entries.filter(({ action }) => action === 'create')
  const unsafe = [
    effect(
      '**There is no safe way back** for the content of these, which goes with the apply; without a backup it is ' +
        'lost. A revert creates empty objects with new identifiers:',
      gone.filter((change) => criticality(change) === 'data'),
    ),
    effect(
      '**Do not revert `moved` blocks.** The state then has the new addresses, and the reverted code has the old ' +
        'without a `moved` block: its plan destroys these objects and creates them anew. Write a change instead that ' +
        'gives them their old addresses back, with `moved` blocks in the other direction in place of the present ones:',
      entries.filter((change) => isMoveOfCode(change) && change.action !== 'replace'),
      ({ address, previous_address = '' }) => `from ${code(address)} to ${code(previous_address)}`,
    ),
    effect(
      'The state then holds these imported objects. Where a revert takes their blocks out of the code, its plan ' +
        'destroys them: put a `removed` block with `destroy = false` for each into the same change:',
      entries.filter(({ import_id }) => import_id !== undefined),
      ({ address }) => code(address),
    ),
    effect(
      'These still exist, but nobody manages them any more. A revert creates new objects beside them: put an ' +
        '`import` block with the identifier of each into the same change:',
      entries.filter(({ action, keeps_old }) => action === 'forget' || keeps_old),
    ),
  ]
  const effects = [
    effect(
      'A revert destroys these new objects with everything stored in them by then:',
      created.filter((change) => criticality(change) === 'data'),
    ),
    effect(
      'Comes back with new keys and identities, which its users must be given anew:',
      gone.filter((change) => criticality(change) === 'access'),
    ),
    effect(
      'Comes back as a new object, with new identifiers:',
      gone.filter((change) => criticality(change) === null),
    ),
    effect(
      'A revert destroys these new objects:',
      created.filter((change) => criticality(change) !== 'data'),
    ),
  ]
  return { unsafe, effects }
}

const showAction = ({ address, action }: ListedChange): string => `${code(address)} (${toReportAction(action)})`

const effect = (lead: string, changes: ListedChange[], show: Effect['show'] = showAction): Effect => ({
  lead,
  changes,
  show,
})

/** Reports whether a `moved` block made the move; the engine moves between `x` and `x[0]` without one. */
const isMoveOfCode = ({ address, previous_address }: ListedChange): boolean =>
  previous_address !== undefined && address.replaceAll('[0]', '') !== previous_address.replaceAll('[0]', '')

const renderEffect = ({ lead, changes, show }: Effect, max: number): string =>
  max === 0
    ? `${lead} ${plural(changes.length, 'object')}.`
    : blocks(lead, bulletList(capLines(changes.map(show), max)))

/** Describes what a revert undoes without destruction. */
function inPlace(entries: readonly ListedChange[]): string {
  const updated = entries.filter(({ action }) => action === 'update').length
  const counted = entries.filter(
    (change) => change.action === 'move' && change.previous_address !== undefined && !isMoveOfCode(change),
  ).length
  return [
    updated > 0 &&
      `A revert changes ${plural(updated, 'updated object')} back in place. What an update itself removed, for ` +
        'example by a shorter retention, does not come back.',
    counted > 0 && `${plural(counted, 'move')} between an address with and without \`[0]\` go back with the revert.`,
  ]
    .filter(Boolean)
    .join(' ')
}

/** Returns the type in an address: `aws_vpc` in `module.net["a"].aws_vpc.main`. */
function resourceTypeOf(address: string): string {
  const bare = address.replaceAll(/\["(?:\\.|[^"\\])*"\]|\[\d+\]/g, '')
  return bare.replace(/^(?:module\.[^.]+\.)+/, '').split('.')[0] ?? ''
}
