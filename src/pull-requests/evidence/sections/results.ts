import type { ApplyReport } from '../../../reports/schemas.ts'
import type { Evidence } from '../evidence.ts'
import { code, inline, prose } from '../markdown.ts'
import {
  blocks,
  cappedTable,
  formatTime,
  notesOf,
  reportSection,
  type Section,
  section,
  titledList,
} from '../section.ts'

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
  const parts = rounds.map(({ number, mode, status, result }) => {
    if (mode !== 'generate' || status !== 'completed') return ''
    const lines = (result?.drift ?? []).map((line) => inline(line)).filter((line) => line !== '')
    const lead =
      `Round ${number} found that others had changed the infrastructure, and wrote this into the code before its ` +
      'plan was reviewed:'
    return titledList(lead, lines, max)
  })
  return blocks(...parts)
}

const reportedDrift = (evidence: Evidence): Section | null =>
  reportSection('Drift', evidence.drift, (document, { round, created_at }) => {
    const { status, summary, remediated_resources, unreconciled_drift, whitelisted_exceptions } = document
    const counts =
      `${remediated_resources.length} remediated, ${unreconciled_drift.length} unreconciled, ` +
      `${whitelisted_exceptions.length} expected`
    const lead = `**${status}: ${counts}** (round ${round}, ${formatTime(created_at)}).`
    const rows = remediated_resources.map(({ resource_address, file_path, changes }) => [
      code(resource_address),
      code(file_path) || 'not named',
      inline(changes.map(({ change_description }) => change_description).join('; '), 300),
    ])
    const open = unreconciled_drift.map(({ resource_address, reason }) => withAddress(resource_address, inline(reason)))
    const expected = whitelisted_exceptions.map(({ resource_address, change, rule }) =>
      withAddress(resource_address, inline(rule ? `${change} (${rule})` : change)),
    )
    return [
      blocks(
        lead,
        prose(summary, 1_000),
        cappedTable(['Remediated', 'File', 'Change'], rows, MAX_ROWS),
        titledList('Unreconciled:', open, MAX_ROWS),
        titledList('Expected to differ:', expected, MAX_ROWS),
        notesOf(evidence, round),
      ),
      blocks(lead, titledList('Unreconciled:', open, FEW_ROWS)),
    ]
  })

const withAddress = (address: string, text: string): string =>
  address.trim() === '' ? text : `${code(address)}: ${text}`

/** Shows imported and failed resources, and whether code and infrastructure agree. */
export const importSection = (evidence: Evidence): Section | null =>
  reportSection('Import', evidence.import, (document, { round, created_at }) => {
    const { status, summary, imported_resources, excluded_resources, state_alignment, execution_summary } = document
    const counts =
      `${summary.selected} selected, ${summary.imported} imported, ${summary.failed} failed, ` +
      `${excluded_resources.length} excluded`
    const lead = `**${status}: ${counts}** (round ${round}, ${formatTime(created_at)}).`
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
    return [
      blocks(
        lead,
        prose(execution_summary, 1_000),
        cappedTable(['Result', 'Address', 'Identifier', 'Note'], rows, MAX_ROWS),
        titledList('Excluded:', excluded, MAX_ROWS),
        alignment,
        notesOf(evidence, round),
      ),
      blocks(lead, alignment),
    ]
  })

/** Outcomes; `Failed` covers refused applies, which did nothing, and unknown results. */
const OUTCOMES: Record<ApplyReport['status'], string> = {
  Success: ' and is complete',
  Partial: ' and is complete in part only',
  Failed: ' and changed nothing that is known',
}

const toAddress = (type: string, name: string): string =>
  type === '' || name.includes(type) ? name : `${type}.${name}`

/** Shows the effects of the session's apply rounds on the infrastructure. */
export const appliedSection = ({ apply, generate }: Evidence): Section | null =>
  reportSection('Applied', apply, (document, { round, created_at }) => {
    const { status, summary, execution_summary, resource_changes, state_changes = [] } = document
    const counts = [
      ...(['created', 'updated', 'destroyed', 'failed'] as const).map((name) => `${summary[name]} ${name}`),
      ...(['moved', 'imported', 'forgotten'] as const).flatMap((name) =>
        summary[name] ? `${summary[name]} ${name}` : [],
      ),
    ].join(', ')
    const inState = state_changes.map(
      ({ name, action, previous_name, summary: words }) =>
        `${action} ${previous_name === undefined ? '' : `${code(previous_name)} → `}${code(name)}: ${inline(words)}`,
    )
    const which = generate && generate.round > round ? 'an earlier plan of this session' : 'the reviewed plan'
    const lead =
      `An apply of ${which} ran before this pull request was opened${OUTCOMES[status]}. **${status}: ${counts}** ` +
      `(round ${round}, ${formatTime(created_at)}).`
    const failures = resource_changes
      .filter((change) => change.status === 'failed')
      .map(
        ({ resource_type, resource_name, error_message, details }) =>
          `${code(toAddress(resource_type, resource_name))}: ${inline(error_message ?? details, 300)}`,
      )
    const narration = (max: number) => prose(execution_summary, max)
    return [
      blocks(lead, narration(1_000), titledList('Failed:', failures, 20), titledList('In the state:', inState, 20)),
      blocks(lead, status === 'Failed' && narration(300)),
    ]
  })
