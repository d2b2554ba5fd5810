import { fromReportAction, type ListedAction, toReportAction } from '../../../plan/actions.ts'
import { localName } from '../../../plan/addresses.ts'
import { type ChangeList, countsInWords, type ListedChange } from '../../../plan/change-list.ts'
import { criticalityOf } from '../../../plan/impact.ts'
import type { GenerateReport } from '../../../reports/schemas.ts'
import type { Evidence } from '../evidence.ts'
import { bulletList, capLines, code, inline, table } from '../markdown.ts'
import {
  blocks,
  findLaterChange,
  formatTime,
  notesOf,
  plural,
  type Section,
  section,
  unreadableSection,
} from '../section.ts'

const MAX_ROWS = 50
const FEW_ROWS = 8

/** Shows counts, changes (costliest first) and remarks of the reviewed plan; null for other operations. */
export function planSection(evidence: Evidence): Section | null {
  const { generate, plan, session } = evidence
  if (!generate)
    return session.operation === 'generate' ? section('Plan', 'No plan was reviewed in this session.') : null
  const changes = reviewedChanges(evidence)
  if (!changes) return unreadableSection('Plan', generate)
  const lead =
    `**${countsInWords(changes.counts)}** (round ${generate.round}, ` +
    `${plan ? `planned ${formatTime(plan.created_at)}` : 'time not available'}).`
  const laterRound = findLaterChange(evidence, generate.round)
  const stale =
    laterRound &&
    `The branch may hold more than this plan shows: round ${laterRound.number} (${laterRound.mode}) came after it.`
  const unread = !generate.document && `The report of round ${generate.round} could not be read. The session holds it.`
  const notes = notesOf(evidence, generate.round)
  return section(
    'Plan',
    blocks(lead, stale, unread, changesTable(changes, MAX_ROWS, true), notes),
    blocks(lead, stale, unread, changesTable(changes, FEW_ROWS, false), notes),
    blocks(lead, stale, changesTable(changes, FEW_ROWS, false)),
  )
}

/** Table order of actions: destruction first, changes of the state alone last. */
const ORDER: readonly ListedAction[] = ['delete', 'replace', 'forget', 'update', 'create', 'import', 'move']

function changesTable(changes: ReviewedChanges, max: number, narrated: boolean): string {
  const { entries, total, narrationOf } = changes
  if (total === 0) return 'No resource changes.'
  const shown = entries.toSorted((a, b) => ORDER.indexOf(a.action) - ORDER.indexOf(b.action)).slice(0, max)
  const cells = (change: ListedChange) => [
    actionInWords(change),
    describeObject(change),
    ...(narrated ? [inline(narrationOf(change.address), 160)] : []),
  ]
  const more = total > shown.length && `and ${total - shown.length} more`
  return blocks(table(['Action', 'Address', ...(narrated ? ['In words'] : [])], shown.map(cells)), more)
}

/** Shows each round's request and result; null for a session with a single round. */
export function roundsSection({ rounds }: Evidence): Section | null {
  if (rounds.length < 2) return null
  const lines = rounds.map(
    ({ number, mode, status, query }) => `Round ${number}, ${mode}, ${status}: ${inline(query, 200)}`,
  )
  return section('Rounds', bulletList(capLines(lines, 20)), `${rounds.length} rounds.`)
}

/** The changes of the reviewed plan, with the report's words for each. */
export interface ReviewedChanges extends ChangeList {
  /** False for plans of older rounds, which lack moves, imports and forgotten objects. */
  recorded: boolean
  narrationOf(address: string): string
}

/** Returns the stored changes of the reviewed plan, else the less complete ones of the report; null without both. */
export function reviewedChanges({ generate, rounds }: Evidence): ReviewedChanges | null {
  if (!generate) return null
  const stored = rounds.find(({ number }) => number === generate.round)?.result?.changes
  const list = stored ?? (generate.document && fromReport(generate.document))
  if (!list) return null
  const words = new Map(generate.document?.detailed_changes.map(({ name, summary }) => [name, summary]))
  return { ...list, recorded: stored !== undefined, narrationOf: (address) => words.get(address) ?? '' }
}

function fromReport({ summary, detailed_changes }: GenerateReport): ChangeList {
  const entries = detailed_changes.map(({ name, action }) => ({ address: name, action: fromReportAction(action) }))
  const { recreate: replace, ...counts } = summary
  return { entries, total: entries.length, counts: { move: 0, import: 0, forget: 0, ...counts, replace } }
}

/** Lists all that happens to an object, for example `move, update`. */
export const actionInWords = ({ action, previous_address, import_id }: ListedChange): string =>
  [
    previous_address !== undefined && action !== 'move' && 'move',
    import_id !== undefined && action !== 'import' && 'import',
    toReportAction(action),
  ]
    .filter(Boolean)
    .join(', ')

/** Renders an object's address, origin and reasons for replacement as one line of Markdown. */
export function describeObject(change: ListedChange): string {
  const { address, previous_address, import_id, action, keeps_old } = change
  return [
    previous_address === undefined ? code(address) : `${code(previous_address)} → ${code(address)}`,
    import_id && `as ${code(import_id)}`,
    action === 'forget' && 'stays, no longer managed',
    action === 'replace' && describeForce(change),
    action === 'delete' && REASONS[change.delete_reason ?? ''],
    keeps_old && 'the old object stays, no longer managed',
  ]
    .filter(Boolean)
    .join(', ')
}

/** The engine's words for a deletion, or for a replacement that no attribute forces. */
const REASONS: Record<string, string> = {
  replace_because_tainted: 'marked as damaged',
  replace_by_request: 'requested',
  replace_by_triggers: 'forced by `replace_triggered_by`',
  delete_because_no_resource_config: 'the code has no block for it',
  delete_because_no_module: 'the code does not call its module',
  delete_because_wrong_repetition: 'its block has instances of another kind',
  delete_because_count_index: 'its index is beyond `count`',
  delete_because_each_key: 'its key is not in `for_each`',
  delete_because_no_move_target: 'moved to an address without a block',
}

function describeForce({ replace_paths = [], replace_reason = '' }: ListedChange): string {
  if (replace_paths.length > 0) return `forced by ${replace_paths.map((path) => code(path)).join(', ')}`
  return REASONS[replace_reason] ?? ''
}

/** Describes from the plan how to undo the change, and where that is unsafe; null without changes. */
export function rollBackSection(evidence: Evidence): Section | null {
  const steps = listSteps(evidence)
  if (steps.length === 0) return null
  const changes = reviewedChanges(evidence)
  const numbered = steps.map((step, index) => `${index + 1}. ${step}`).join('\n')
  const form = (max: number) => blocks(numbered, changes && describeRevert(changes, max))
  return section('How to roll back', form(20), form(5), form(0))
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

/** Describes a revert after the apply, naming at most `max` objects of each kind; 0 only counts them. */
function describeRevert({ entries, total, recorded }: ReviewedChanges, max: number): string {
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
const criticality = ({ address }: ListedChange) => criticalityOf(localName(address).split('.')[0] ?? '')

function sortByEffect(entries: readonly ListedChange[]) {
  const gone = entries.filter(isGone)
  const created = entries.filter(({ action }) => action === 'create')
  const unsafe = [
    effect(
      '**There is no safe way back** for the content of these, which goes with the apply; without a backup it is ' +
        'lost. A revert creates empty objects with new identifiers:',
      gone.filter((change) => criticality(change) === 'data'),
    ),
    effect(
      '**It cannot be told whether these hold data**, which would go with the apply. A revert creates new objects ' +
        'with new identifiers:',
      gone.filter((change) => criticality(change) === 'unknown'),
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

const effect = (lead: string, changes: ListedChange[], show = showAction) => ({ lead, changes, show })

/** Reports whether a `moved` block made the move; the engine moves between `x` and `x[0]` without one. */
const isMoveOfCode = ({ address, previous_address }: ListedChange): boolean =>
  previous_address !== undefined && address.replaceAll('[0]', '') !== previous_address.replaceAll('[0]', '')

const renderEffect = ({ lead, changes, show }: ReturnType<typeof effect>, max: number): string =>
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
