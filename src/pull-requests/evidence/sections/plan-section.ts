import { countsInWords, type ListedAction, type ListedChange } from '../../../plan/change-list.ts'
import type { Evidence } from '../evidence.ts'
import { bulletList, capLines, inline, table } from '../markdown.ts'
import { actionInWords, describeObject, type ReviewedChanges, reviewedChanges } from '../reviewed-changes.ts'
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
