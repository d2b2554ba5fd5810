import { bulleted, capped, code, inline, table } from '../markdown.ts'
import { blocks, laterChange, type Section, section, timeOf, unreadable } from '../section.ts'
import type { Evidence } from '../types.ts'

const MAX_ROWS = 50
const FEW_ROWS = 8
const MAX_ROUNDS = 20

/** Counts and changes of the reviewed plan; null for a session that makes none. */
export function planSection(evidence: Evidence): Section | null {
  const { generate, plan, session } = evidence
  if (!generate)
    return session.operation === 'generate' ? section('Plan', 'No plan was reviewed in this session.') : null
  if (!generate.document) return unreadable('Plan', generate)
  const { summary, detailed_changes } = generate.document
  const counts = `**${summary.create} to create, ${summary.update} to update, ${summary.delete} to delete, ${summary.recreate} to recreate**`
  const lead = `${counts} (round ${generate.round}, ${plan ? `planned ${timeOf(plan.created_at)}` : 'time not available'}).`
  const later = laterChange(evidence, generate.round)
  const stale =
    later && `The branch may hold more than this plan shows: round ${later.number} (${later.mode}) came after it.`
  const rows = detailed_changes.map(({ name, action, summary: told }) => [action, code(name), inline(told, 160)])
  return section(
    'Plan',
    blocks(lead, stale, changes(['Action', 'Address', 'In words'], rows, MAX_ROWS)),
    blocks(
      lead,
      stale,
      changes(
        ['Action', 'Address'],
        rows.map((row) => row.slice(0, 2)),
        FEW_ROWS,
      ),
    ),
  )
}

function changes(head: string[], rows: string[][], max: number): string {
  if (rows.length === 0) return 'Nothing changes.'
  const more = rows.length > max && `and ${rows.length - max} more`
  return blocks(table(head, rows.slice(0, max)), more)
}

/** What each round asked, and how it ended; null for a session of one round. */
export function roundsSection({ rounds }: Evidence): Section | null {
  if (rounds.length < 2) return null
  const lines = rounds.map(
    ({ number, mode, status, query }) => `Round ${number}, ${mode}, ${status}: ${inline(query, 200)}`,
  )
  return section('Rounds', bulleted(capped(lines, MAX_ROUNDS)), `${rounds.length} rounds.`)
}
