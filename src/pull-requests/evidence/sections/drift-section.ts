import type { Evidence } from '../evidence.ts'
import { bulletList, capLines, code, inline, prose, table } from '../markdown.ts'
import { blocks, formatTime, notesOf, type Section, section, unreadableSection } from '../section.ts'

const MAX_ROWS = 40
const FEW_ROWS = 5

/** Shows removed, remaining and expected drift, and drift written into the code before plans were reviewed. */
export function driftSection(evidence: Evidence): Section | null {
  const reported = reportedDrift(evidence)
  const found = (max: number) => foundDrift(evidence, max)
  if (found(1) === '') return reported
  return section(
    'Drift',
    blocks(reported?.forms[0], found(MAX_ROWS)),
    blocks(reported?.forms.at(-1), found(FEW_ROWS)),
    ...(reported ? [reported.forms.at(-1) ?? ''] : []),
  )
}

function foundDrift({ rounds }: Evidence, max: number): string {
  const parts = rounds.flatMap(({ number, mode, status, result }) => {
    const lines = (result?.drift ?? []).map((line) => inline(line)).filter((line) => line !== '')
    if (mode !== 'generate' || status !== 'completed' || lines.length === 0) return []
    const lead =
      `Round ${number} found that others had changed the infrastructure, and wrote this into the code before its ` +
      'plan was reviewed:'
    return [blocks(lead, bulletList(capLines(lines, max)))]
  })
  return blocks(...parts)
}

function reportedDrift(evidence: Evidence): Section | null {
  const { drift } = evidence
  if (!drift) return null
  if (!drift.document) return unreadableSection('Drift', drift)
  const { status, summary, remediated_resources, unreconciled_drift, whitelisted_exceptions } = drift.document
  const counts =
    `${remediated_resources.length} remediated, ${unreconciled_drift.length} unreconciled, ` +
    `${whitelisted_exceptions.length} expected`
  const lead = `**${status}: ${counts}** (round ${drift.round}, ${formatTime(drift.created_at)}).`
  const rows = remediated_resources.map(({ resource_address, file_path, changes }) => [
    code(resource_address),
    code(file_path) || 'not named',
    inline(changes.map(({ change_description }) => change_description).join('; '), 300),
  ])
  const more = rows.length > MAX_ROWS && `and ${rows.length - MAX_ROWS} more`
  const open = unreconciled_drift.map(({ resource_address, reason }) => withAddress(resource_address, inline(reason)))
  const expected = whitelisted_exceptions.map(({ resource_address, change, rule }) =>
    withAddress(resource_address, inline(rule ? `${change} (${rule})` : change)),
  )
  return section(
    'Drift',
    blocks(
      lead,
      prose(summary, 1_000),
      rows.length > 0 && table(['Remediated', 'File', 'Change'], rows.slice(0, MAX_ROWS)),
      more,
      titledList('Unreconciled:', open, MAX_ROWS),
      titledList('Expected to differ:', expected, MAX_ROWS),
      notesOf(evidence, drift.round),
    ),
    blocks(lead, titledList('Unreconciled:', open, FEW_ROWS)),
  )
}

const withAddress = (address: string, text: string): string =>
  address.trim() === '' ? text : `${code(address)}: ${text}`

const titledList = (lead: string, lines: readonly string[], max: number): string | false =>
  lines.length > 0 && blocks(lead, bulletList(capLines(lines, max)))
