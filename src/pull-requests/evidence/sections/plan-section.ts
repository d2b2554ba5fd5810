import { fromReportAction, toReportAction } from '../../../plan/actions.ts'
import { type ChangeList, countsInWords, type ListedAction, type ListedChange } from '../../../plan/change-list.ts'
import type { GenerateReport } from '../../../reports/schemas.ts'
import type { Evidence } from '../evidence.ts'
import { bulletList, capLines, code, inline, table } from '../markdown.ts'
import { blocks, findLaterChange, formatTime, notesOf, type Section, section, unreadableSection } from '../section.ts'

const MAX_ROWS = 50
const FEW_ROWS = 8
const MAX_ROUNDS = 20

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
  if (total === 0) return 'Nothing changes.'
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
  return section('Rounds', bulletList(capLines(lines, MAX_ROUNDS)), `${rounds.length} rounds.`)
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
  return { entries, total: entries.length, counts: { ...counts, replace, move: 0, import: 0, forget: 0 } }
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
    keeps_old && 'the old object stays, no longer managed',
  ]
    .filter(Boolean)
    .join(', ')
}

/** The engine's words for a replacement that no attribute forces. */
const REASONS: Record<string, string> = {
  replace_because_tainted: 'marked as damaged',
  replace_by_request: 'requested',
  replace_by_triggers: 'forced by `replace_triggered_by`',
}

function describeForce({ replace_paths = [], replace_reason = '' }: ListedChange): string {
  if (replace_paths.length > 0) return `forced by ${replace_paths.map((path) => code(path)).join(', ')}`
  return REASONS[replace_reason] ?? ''
}
