import type { Json } from '../../src/base/json.ts'
import type { DocumentAttribute, DocumentResource, PlanDocument } from '../../src/plan/document/plan-document.ts'
import { INTENT_TITLE } from '../../src/rules/intent/describe.ts'
import type { Round } from './api.ts'
import type { Collected } from './collect.ts'
import type { Display } from './display.ts'
import type { AllResult, DemoResult, Evidence } from './result.ts'

const SIGNS: Record<string, string> = { create: '+', update: '~', delete: '-', recreate: '-/+' }
const INDENT = ' '.repeat(16)

/** A heading with its text, and lines below it. */
type Row = [heading: string, text: string, below?: string[]]

export function showSummary(display: Display, { session, collected }: Evidence, result: DemoResult): void {
  const rows = [
    ...attemptRows(session.rounds.flatMap(({ attempts }) => attempts)),
    ...codeRows(collected, result),
    ...driftRows(collected, result),
    ...importRows(collected),
    ...previewRows(collected),
    ...planRows(display, collected, result),
    ...applyRows(collected),
    ...linkRows(collected, result),
  ]
  if (rows.length > 0) display.line()
  for (const [heading, text, below = []] of rows) {
    display.line(`${display.paint('bold', heading.padEnd(13))} ${text}`)
    for (const line of below) display.line(`${INDENT}${line}`)
  }
}

/** Most diagnostics that are shown of an attempt. */
const MAX_DIAGNOSTICS = 3

/** Makes rows for the failed attempts, each with its findings; none if the first one passed. */
function attemptRows(attempts: Round['attempts']): Row[] {
  if (attempts.length < 2 && attempts[0]?.outcome === 'accepted') return []
  return attempts.map(({ number, outcome, steps, diagnostics, diagnostics_total, commit }) => {
    const took = steps.reduce((sum, { seconds }) => sum + seconds, 0)
    const failed = steps.find((step) => step.outcome === 'failed')
    const words = [
      `${outcome ?? 'running'}${failed ? ` at ${failed.name}` : ''}`,
      `${took.toFixed(1)} s`,
      ...(commit ? [commit.slice(0, 8)] : []),
      ...(diagnostics_total > MAX_DIAGNOSTICS ? [`${diagnostics_total} findings`] : []),
    ]
    return [`attempt ${number}`, words.join(', '), diagnostics.slice(0, MAX_DIAGNOSTICS).flatMap(describeDiagnostic)]
  })
}

function describeDiagnostic({ file, line, summary, snippet }: Round['attempts'][number]['diagnostics'][number]) {
  const place = file === null ? '' : `${file}${line === null ? '' : `:${line}`}  `
  const lines = snippet.split('\n').filter((text) => text.trim() !== '')
  return [`${place}${summary}`, ...lines.map((text) => `    ${text}`)]
}

function codeRows({ files }: Collected, { validation_attempts, message }: DemoResult): Row[] {
  if (files.length === 0) return []
  const rows: Row[] = [['code', [...new Set(files)].join(', ')]]
  if (message.endsWith('Validation loop exceeded.'))
    rows.push(['attempts', `${validation_attempts}, all of them refused by the engine`])
  return rows
}

const MAX_SHOWN = 10

function previewRows({ preview }: Collected): Row[] {
  if (!preview) return []
  const { counts, unmanaged } = preview
  const more = unmanaged.length - MAX_SHOWN
  const below = [
    ...unmanaged.slice(0, MAX_SHOWN).map(({ kind, resource_id }) => `${kind ?? 'unknown kind'}  ${resource_id}`),
    ...(more > 0 ? [`and ${more} more that nobody manages`] : []),
  ]
  return [['scope', `${counts.managed} managed, ${counts.unmanaged} not managed, ${counts.left_out} left out`, below]]
}

function driftRows({ drift, reports }: Collected, { mode }: DemoResult): Row[] {
  if (!reports.drift) return []
  const { status, summary, remediated_resources, unreconciled_drift } = reports.drift
  const below = remediated_resources.flatMap(({ file_path, resource_address, changes }) =>
    changes.map(
      (change) => `${file_path}  ${resource_address}  ${change.attribute_modified}: ${change.change_description}`,
    ),
  )
  const rows: Row[] = [
    ['drift', `${drift.length} found: ${drift.join(', ') || 'nothing'}`],
    [mode === 'drift-preview' ? 'seen' : 'mended', `${status}: ${summary}`, below],
  ]
  return unreconciled_drift.length > 0 ? [...rows, ['left', `${unreconciled_drift.length} entries`]] : rows
}

function importRows({ reports }: Collected): Row[] {
  if (!reports.import) return []
  const { status, summary, imported_resources, excluded_resources, state_alignment } = reports.import
  const { imported, selected, failed } = summary
  const counts = `${imported} of ${selected} selected, ${failed} failed, ${excluded_resources.length} excluded`
  const below = imported_resources.map(
    (entry) => `${entry.resource_address}  ${entry.resource_id}${entry.status === 'failed' ? '  failed' : ''}`,
  )
  return [
    ['import', `${status}: ${counts}`, below],
    ['state', state_alignment],
  ]
}

function planRows(display: Display, collected: Collected, { plan, mode }: DemoResult): Row[] {
  const { reports, findings, plan: planned, document } = collected
  const { generate } = reports
  if (!generate) {
    if (!planned || mode === 'exhausted') return []
    const left = plan.create + plan.update + plan.delete + plan.replace
    const below = document ? resourceLines(display, document) : []
    return [['plan', left === 0 ? 'nothing left to change' : `${left} changes left`, below]]
  }
  const { create, update, delete: gone, recreate } = generate.summary
  const { banner, bullet_points } = generate.potential_impact
  const below = document
    ? resourceLines(display, document)
    : generate.detailed_changes.map(({ name, action }) => `${(SIGNS[action] ?? '?').padEnd(3)} ${name}`)
  const rows: Row[] = [
    ['plan', `${create} to create, ${update} to change, ${gone} to destroy, ${recreate} to replace`, below],
    ['impact', `${banner.level}: ${banner.title}`],
  ]
  const checked = bullet_points.find(({ title }) => title === INTENT_TITLE)?.description.split('\n')
  if (checked) rows.push(['request', checked[0] ?? '', checked.slice(1)])
  if (findings !== null) rows.push(['compliance', findings === 0 ? 'passed, no findings' : `${findings} findings`])
  return rows
}

const ACTION_SIGNS: Record<DocumentResource['action'], string> = {
  create: '+',
  update: '~',
  replace: '-/+',
  delete: '-',
  read: '<=',
  import: '<-',
  move: '->',
  forget: 'x',
  none: ' ',
}
const COLOURS: Partial<Record<DocumentResource['action'], 'green' | 'red' | 'yellow'>> = {
  create: 'green',
  import: 'green',
  update: 'yellow',
  replace: 'red',
  delete: 'red',
}
const MAX_ATTRIBUTES = 8
const MAX_VALUE = 60

/** Makes lines for each resource that changes, with its attributes before and after. */
function resourceLines(display: Display, document: PlanDocument): string[] {
  return document.resources
    .filter(({ action }) => action !== 'none' && action !== 'read')
    .flatMap((resource) => describeResource(display, resource))
}

function describeResource(display: Display, resource: DocumentResource): string[] {
  const { action, address, attributes, is_critical, criticality_known, moved_from, findings } = resource
  const colour = COLOURS[action]
  const head = [
    `${ACTION_SIGNS[action].padEnd(3)} ${address}`,
    ...(moved_from === null ? [] : [`from ${moved_from}`]),
    ...(is_critical ? ['(critical)'] : []),
    ...((action === 'delete' || action === 'replace') && !criticality_known ? ['(may hold data)'] : []),
  ].join(' ')
  const shown = attributes.slice(0, MAX_ATTRIBUTES)
  const left = attributes.length - shown.length + resource.attributes_left_out
  return [
    colour ? display.paint(colour, head) : head,
    ...shown.map((attribute) => `      ${describeAttribute(attribute, forces(resource, attribute))}`),
    ...(left > 0 ? [display.paint('gray', `      and ${left} more`)] : []),
    ...findings.map(({ rule_id, message }) => display.paint('yellow', `      ${rule_id}: ${message}`)),
  ]
}

const forces = ({ replace }: DocumentResource, { path }: DocumentAttribute): boolean =>
  replace?.reasons.some((reason) => reason.path.join('\0') === path.join('\0')) ?? false

function describeAttribute(attribute: DocumentAttribute, forcing: boolean): string {
  const { path, change, before, after, unknown, sensitive } = attribute
  const name = path.join('.')
  const later = sensitive ? '(sensitive)' : unknown ? '(known after apply)' : show(after)
  const earlier = sensitive ? '(sensitive)' : show(before)
  const isOne = change === 'added' || change === 'same'
  const value = isOne ? later : `${earlier} -> ${change === 'removed' ? 'gone' : later}`
  return `${name} = ${value}${forcing ? '  (forces the replacement)' : ''}`
}

/** Renders a value in one line, without the control characters that a terminal would obey. */
function show(value: Json): string {
  const text = JSON.stringify(value) ?? 'null'
  return text.length > MAX_VALUE ? `${text.slice(0, MAX_VALUE)}…` : text
}

function applyRows({ reports }: Collected): Row[] {
  if (!reports.apply) return []
  const { status, summary, resource_changes } = reports.apply
  const { created, updated, destroyed, failed } = summary
  const counts = `${created} created, ${updated} changed, ${destroyed} destroyed, ${failed} failed`
  return [
    ['applied', `${status}: ${counts}`, resource_changes.map((change) => `${change.resource_name} ${change.action}`)],
  ]
}

function linkRows({ report_url, artifacts }: Collected, { pull_request, locked }: DemoResult): Row[] {
  const rows: Row[] = []
  const bytes = artifacts.reduce((total, artifact) => total + artifact.bytes, 0)
  const size = `${(bytes / 1000).toFixed(1)} kB`
  if (artifacts.length > 0) rows.push(['artifacts', `${artifacts.length} downloaded through presigned URLs, ${size}`])
  if (report_url) rows.push(['report', report_url])
  if (pull_request) rows.push(['pull request', `${pull_request.url} (${pull_request.status})`])
  if (locked) rows.push(['lock', 'locked until an administrator unlocks it or a later round passes'])
  return rows
}

/** Describes whether the mode ended as it should, and where the time was spent. */
export function describeOutcome(display: Display, result: DemoResult): string {
  const { engine_s, model_s, platform_s, duration_s, checks, engine } = result
  const parts =
    `${engine.name} ${engine.version}, ${duration_s} s (engine ${engine_s} s, model ${model_s} s, platform ` +
    `${platform_s} s)`
  const held = checks.filter(({ ok }) => ok).map(({ name }) => name)
  const missed = checks.filter(({ ok }) => !ok).map(({ name }) => name)
  if (missed.length === 0) return `\n${display.paint('green', 'As it should be')}: ${held.join(', ')}. ${parts}.\n`
  const said = result.message ? ` Last status: ${result.status}: ${result.message}` : ''
  return (
    `\n${display.paint('red', `Not as it should be: it does not hold that ${missed.join(', nor that ')}.`)}${said}\n` +
    `${parts}.\n`
  )
}

export function showAll(display: Display, { results, duration_s }: AllResult): void {
  for (const { mode, ok, status, duration_s: lasted, engine_s, model_s, platform_s } of results) {
    const mark = ok ? display.paint('green', 'ok    ') : display.paint('red', 'failed')
    const numbers = [lasted, engine_s, model_s, platform_s].map((value) => `${value.toFixed(2).padStart(6)} s`)
    display.line(
      `${mark} ${mode.padEnd(15)} ${status.padEnd(12)} ${numbers[0]}  engine ${numbers[1]}  model ` +
        `${numbers[2]}  platform ${numbers[3]}`,
    )
  }
  display.line(`${results.length} modes in ${duration_s.toFixed(1)} s`)
}
