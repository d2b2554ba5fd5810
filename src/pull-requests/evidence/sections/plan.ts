import { bulletList, capLines, code, inline, table } from '../markdown.ts'
import { blocks, findLaterChange, formatTime, type Section, section, unreadableSection } from '../section.ts'
import type { Evidence } from '../types.ts'

const MAX_ROWS = 50
const FEW_ROWS = 8
const MAX_ROUNDS = 20

/** Shows the counts and changes of the reviewed plan; null for a session of another operation than generate. */
export function planSection(evidence: Evidence): Section | null {
  const { generate, plan, session } = evidence
  if (!generate)
    return session.operation === 'generate' ? section('Plan', 'No plan was reviewed in this session.') : null
  if (!generate.document) return unreadableSection('Plan', generate)
  const { summary, detailed_changes } = generate.document
  const counts =
    `**${summary.create} to create, ${summary.update} to update, ${summary.delete} to delete, ` +
    `${summary.recreate} to recreate**`
  const lead =
    `${counts} (round ${generate.round}, ` +
    `${plan ? `planned ${formatTime(plan.created_at)}` : 'time not available'}).`
  const laterRound = findLaterChange(evidence, generate.round)
  const stale =
    laterRound &&
    `The branch may hold more than this plan shows: round ${laterRound.number} (${laterRound.mode}) came after it.`
  const rows = detailed_changes.map(({ name, action, summary: narration }) => [
    action,
    code(name),
    inline(narration, 160),
  ])
  return section(
    'Plan',
    blocks(lead, stale, changesTable(['Action', 'Address', 'In words'], rows, MAX_ROWS)),
    blocks(
      lead,
      stale,
      changesTable(
        ['Action', 'Address'],
        rows.map((row) => row.slice(0, 2)),
        FEW_ROWS,
      ),
    ),
  )
}

function changesTable(head: string[], rows: string[][], max: number): string {
  if (rows.length === 0) return 'Nothing changes.'
  const more = rows.length > max && `and ${rows.length - max} more`
  return blocks(table(head, rows.slice(0, max)), more)
}

/** Shows the request of each round and how the round ended; null for a session with a single round. */
export function roundsSection({ rounds }: Evidence): Section | null {
  if (rounds.length < 2) return null
  const lines = rounds.map(
    ({ number, mode, status, query }) => `Round ${number}, ${mode}, ${status}: ${inline(query, 200)}`,
  )
  return section('Rounds', bulletList(capLines(lines, MAX_ROUNDS)), `${rounds.length} rounds.`)
}
