import { bulletList, capLines, code, inline, prose, table } from '../markdown.ts'
import { blocks, formatTime, type Section, section, unreadableSection } from '../section.ts'
import type { Evidence } from '../types.ts'

const MAX_ROWS = 40

/** Says which drift a drift round removed, which remains and which differences are expected. */
export function driftSection({ drift }: Evidence): Section | null {
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
    ),
    blocks(lead, titledList('Unreconciled:', open, 5)),
  )
}

const withAddress = (address: string, text: string): string =>
  address.trim() === '' ? text : `${code(address)}: ${text}`

const titledList = (lead: string, lines: readonly string[], max: number): string | false =>
  lines.length > 0 && blocks(lead, bulletList(capLines(lines, max)))
