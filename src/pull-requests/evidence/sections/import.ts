import { bulletList, capLines, code, inline, prose, table } from '../markdown.ts'
import { blocks, formatTime, notesOf, type Section, section, unreadableSection } from '../section.ts'
import type { Evidence } from '../types.ts'

const MAX_ROWS = 40

/** Says what an import round took into the state, what it did not, and whether code and infrastructure agree. */
export function importSection(evidence: Evidence): Section | null {
  const { import: imported } = evidence
  if (!imported) return null
  if (!imported.document) return unreadableSection('Import', imported)
  const { status, summary, imported_resources, excluded_resources, state_alignment, execution_summary } =
    imported.document
  const counts =
    `${summary.selected} selected, ${summary.imported} imported, ${summary.failed} failed, ` +
    `${excluded_resources.length} excluded`
  const lead = `**${status}: ${counts}** (round ${imported.round}, ${formatTime(imported.created_at)}).`
  const rows = imported_resources
    .toSorted((a, b) => Number(a.status === 'imported') - Number(b.status === 'imported'))
    .map(({ status: result, resource_address, resource_id, error_message, details }) => [
      result,
      code(resource_address) || 'none',
      code(resource_id),
      inline(error_message ?? details, 200),
    ])
  const excluded = excluded_resources.map(({ resource_id, details }) =>
    [code(resource_id), inline(details)].filter(Boolean).join(': '),
  )
  const alignment = state_alignment.trim() !== '' && `State alignment: ${inline(state_alignment, 600)}`
  return section(
    'Import',
    blocks(
      lead,
      prose(execution_summary, 1_000),
      rows.length > 0 && table(['Result', 'Address', 'Identifier', 'Note'], rows.slice(0, MAX_ROWS)),
      rows.length > MAX_ROWS && `and ${rows.length - MAX_ROWS} more`,
      excluded.length > 0 && blocks('Excluded:', bulletList(capLines(excluded, MAX_ROWS))),
      alignment,
      notesOf(evidence, imported.round),
    ),
    blocks(lead, alignment),
  )
}
