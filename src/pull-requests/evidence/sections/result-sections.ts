import type { ApplyReport } from '../../../reports/schemas.ts'
import type { Evidence } from '../evidence.ts'
import { bulletList, capLines, code, inline, prose, table } from '../markdown.ts'
import { blocks, formatTime, notesOf, type Section, section, unreadableSection } from '../section.ts'

const MAX_ROWS = 40

/** Shows imported and failed resources, and whether code and infrastructure agree. */
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

const MAX_FAILURES = 20

/** Outcomes; `Failed` covers refused applies, which did nothing, and unknown results. */
const OUTCOMES: Record<ApplyReport['status'], string> = {
  Success: ' and is complete',
  Partial: ' and is complete in part only',
  Failed: ' and changed nothing that is known',
}

const toAddress = (type: string, name: string): string =>
  type === '' || name.includes(type) ? name : `${type}.${name}`

/** Shows the effects of the session's apply rounds on the infrastructure. */
export function appliedSection({ apply, generate }: Evidence): Section | null {
  if (!apply) return null
  if (!apply.document) return unreadableSection('Applied', apply)
  const { status, summary, execution_summary, resource_changes } = apply.document
  const counts =
    `${summary.created} created, ${summary.updated} updated, ${summary.destroyed} destroyed, ${summary.failed} ` +
    'failed'
  const which = generate && generate.round > apply.round ? 'an earlier plan of this session' : 'the reviewed plan'
  const lead =
    `An apply of ${which} ran before this pull request was opened${OUTCOMES[status]}. **${status}: ${counts}** ` +
    `(round ${apply.round}, ${formatTime(apply.created_at)}).`
  const failures = resource_changes
    .filter((change) => change.status === 'failed')
    .map(
      ({ resource_type, resource_name, error_message, details }) =>
        `${code(toAddress(resource_type, resource_name))}: ${inline(error_message ?? details, 300)}`,
    )
  const failed = failures.length > 0 && blocks('Failed:', bulletList(capLines(failures, MAX_FAILURES)))
  const narration = (max: number) => prose(execution_summary, max)
  return section('Applied', blocks(lead, narration(1_000), failed), blocks(lead, status === 'Failed' && narration(300)))
}
