import { SEVERITIES } from '../../../base/vocabulary.ts'
import { BEYOND_TITLE, isBeyondTitle } from '../../../plan/targets.ts'
import type { ComplianceReport } from '../../../reports/schemas.ts'
import { isBackgroundTitle } from '../../../reports/settle-generate.ts'
import { INTENT_TITLE, isIntentTitle } from '../../../rules/intent/describe.ts'
import type { Evidence } from '../evidence.ts'
import { bulletList, capLines, code, inline } from '../markdown.ts'
import {
  blocks,
  cappedTable,
  findLaterChange,
  formatTime,
  plural,
  reportSection,
  type Section,
  section,
  titledList,
} from '../section.ts'

/** Shows the plan's impact level with reasons, except the two that have sections of their own. */
export const impactSection = ({ generate }: Evidence): Section | null =>
  reportSection('Impact', generate, ({ potential_impact: { banner, summary, bullet_points } }) => {
    const lead = (max: number) =>
      `**${banner.level}**: ${[inline(banner.title, 200), inline(banner.description, max)].filter(Boolean).join('. ')}`
    const points = bullet_points
      .filter(({ title }) => !isBeyondTitle(title) && !isIntentTitle(title) && !isBackgroundTitle(title))
      .map(({ title, description }) => [inline(title, 200), inline(description, 600)].filter(Boolean).join(': '))
    return [blocks(lead(1_500), inline(summary, 1_500), bulletList(capLines(points, 30))), lead(250)]
  })

/** Shows whole-root changes that the reviewed plan leaves out because of its targets. */
export const outsideSection = ({ generate, plan }: Evidence): Section | null =>
  pointSection(
    BEYOND_TITLE,
    generate,
    isBeyondTitle,
    outsideLine,
    plan !== null && plan.targets.length === 0
      ? 'The whole root was planned: nothing is left out.'
      : 'Not available for this plan.',
  )

function outsideLine(line: string): string {
  const [, action, address] = /^- (create|update|delete|recreate) (.+)$/.exec(line) ?? []
  return action && address ? `${action} ${code(address)}` : inline(line.replace(/^- /, ''))
}

/** Lists the request's statements that the reviewed plan meets, and those that it does not. */
export const requestSection = ({ generate }: Evidence): Section | null =>
  pointSection(
    INTENT_TITLE,
    generate,
    isIntentTitle,
    (line) => inline(line.replace(/^- /, ''), 600),
    'Not checked: there are no statements about the request that code could compare with the plan.',
  )

/**
 * Creates the section of one point of the report, whose description has a lead and lines.
 * @param missing the text for a report without that point
 */
const pointSection = (
  title: typeof BEYOND_TITLE | typeof INTENT_TITLE,
  generate: Evidence['generate'],
  isTitle: (title: string) => boolean,
  renderLine: (line: string) => string,
  missing: string,
): Section | null =>
  reportSection(title, generate, ({ potential_impact }) => {
    const point = potential_impact.bullet_points.findLast((candidate) => isTitle(candidate.title))
    if (!point) return [missing]
    const [lead = '', ...rest] = point.description.split('\n')
    const lines = rest.map(renderLine).filter((line) => line !== '')
    const form = (max: number) => blocks(inline(lead, 600), bulletList(capLines(lines, max)))
    return [form(lines.length), form(5)]
  })

/** Shows the report's monthly cost, labelled as an estimate. */
export const costSection = ({ generate }: Evidence): Section | null =>
  reportSection('Cost estimate', generate, ({ estimated_costs }) => {
    const { currency, total_fixed_monthly_cost, introduction_paragraph, breakdown } = estimated_costs
    const lead =
      `**${currency} ${total_fixed_monthly_cost.toFixed(2)} a month** for what has a fixed price. An estimate of ` +
      'a model, not an offer.'
    const rows = breakdown.map(({ resource_type, pricing_model, fixed_monthly_cost, notes }) => [
      code(resource_type),
      pricing_model.replace('_', ' '),
      pricing_model === 'fixed' ? fixed_monthly_cost.toFixed(2) : '',
      inline(notes, 200),
    ])
    const costs = cappedTable(['Resource', 'Pricing', `${currency} a month`, 'Note'], rows, 40)
    return [blocks(lead, inline(introduction_paragraph, 1_000), costs), lead]
  })

type Finding = ComplianceReport['violations'][number]

/** Shows verdict and findings of the reviewed plan's audit. */
export function complianceSection({ compliance, generate, rounds }: Evidence): Section | null {
  if (!generate)
    return section('Compliance', 'Not audited: there is no reviewed plan. Only plans of generate rounds are audited.')
  const isDone = rounds.some(({ number, status }) => number === generate.round && status === 'completed')
  const why = isDone ? 'the audit was switched off' : 'the round ended before its audit'
  const missing = `Not audited: no audit ran on the plan of round ${generate.round}, because ${why}.`
  if (!compliance) return section('Compliance', missing)
  const { passed, round, document } = compliance
  const verdict = passed ? '**Passed**' : '**Not passed**'
  if (round !== generate.round)
    return section('Compliance', `${missing} The latest audit is of round ${round}: ${verdict}.`)
  if (!document)
    return section('Compliance', `${verdict} (round ${round}). The findings could not be read; the session holds them.`)
  const { violations, summary, checked_rules } = document
  const sorted = violations.toSorted((a, b) => SEVERITIES.indexOf(b.severity) - SEVERITIES.indexOf(a.severity))
  const lead = `${verdict} (round ${round}): ${countBySeverity(sorted)}.`
  const checked =
    checked_rules.length > 0 &&
    `Checked: ${capLines(
      checked_rules.map((rule) => code(rule, 80)),
      60,
    ).join(', ')}`
  return section(
    'Compliance',
    blocks(
      lead,
      cappedTable(['Severity', 'Rule', 'Resource', 'Finding', 'Fix'], sorted.map(findingCells), 50),
      inline(summary, 1_500),
      checked,
    ),
    blocks(lead, bulletList(capLines(sorted.map(findingLine), 5))),
    lead,
  )
}

const findingCells = ({ severity, rule_id, resource, message, suggested_fix }: Finding): string[] => [
  severity,
  code(rule_id),
  resource ? code(resource) : '',
  inline(message),
  inline(suggested_fix ?? ''),
]

const findingLine = ({ severity, rule_id, resource, message }: Finding): string =>
  `${severity} ${code(rule_id, 80)}${resource ? ` at ${code(resource)}` : ''}: ${inline(message, 120)}`

/** @param findings the worst first */
function countBySeverity(findings: readonly Finding[]): string {
  if (findings.length === 0) return 'no findings'
  const bySeverity = Map.groupBy(findings, ({ severity }) => severity)
  const parts = [...bySeverity].map(([severity, { length }]) => `${length} ${severity}`)
  return `${plural(findings.length, 'finding')}, ${parts.join(', ')}`
}

/** Most assumptions, targets or resource types that are listed. */
const MAX_LISTED = 20
const FEW_LISTED = 5
const UNKNOWN = /\(known after apply\)/g

/** Lists the generator's assumptions, the basis of the evidence, and what was not checked. */
export function assumptionsSection(evidence: Evidence): Section | null {
  const computed = evidence.generate ? listPlanAssumptions(evidence) : listReadingAssumptions(evidence)
  const assumed = listGeneratorAssumptions(evidence)
  if (assumed.length === 0)
    return computed.length > 0 ? section('Assumptions', bulletList(computed), bulletList(computed.slice(0, 2))) : null
  const form = (most: number, lines: readonly string[]) =>
    blocks(
      titledList('The model that wrote the code assumed, in its own words:', assumed, most),
      titledList('What the evidence is based on:', lines, lines.length),
    )
  return section('Assumptions', form(MAX_LISTED, computed), form(FEW_LISTED, computed.slice(0, 2)))
}

/** Returns the distinct assumptions of completed rounds, latest round first. */
function listGeneratorAssumptions({ rounds }: Evidence): string[] {
  const lines = new Map<string, string>()
  for (const { status, result } of rounds.toReversed()) {
    if (status !== 'completed') continue
    for (const assumption of result?.assumptions ?? []) {
      const line = inline(assumption, 300)
      const key = line.toLowerCase().replace(/[\s.]+$/, '')
      if (line !== '' && !lines.has(key)) lines.set(key, line)
    }
  }
  return [...lines.values()]
}

function listPlanAssumptions(evidence: Evidence): string[] {
  const { generate, plan, session } = evidence
  const commit = generate && !findLaterChange(evidence, generate.round) ? session.last_commit : null
  const plannedAt = plan
    ? 'The engine planned at ' +
      `${formatTime(plan.created_at)}${commit ? ` on commit ${code(commit.slice(0, 12))}` : ''}. What changed ` +
      'since then, in the infrastructure or on the default branch, is not in the plan.'
    : 'When the plan was made is not available.'
  return [
    targetsLine(plan),
    plannedAt,
    unknownLine(plan),
    costLine(generate),
    'A plan does not show whether quotas, permissions and policies of the cloud let it through.',
  ].filter((line) => line !== null)
}

function targetsLine(plan: Evidence['plan']): string {
  if (!plan) return 'Which targets were planned is not available.'
  if (plan.targets.length === 0) return 'The whole root was planned.'
  const targets = capLines(
    plan.targets.map((target) => code(target)),
    MAX_LISTED,
  )
  return (
    `Only ${plural(plan.targets.length, 'target')} and what ` +
    `${plan.targets.length === 1 ? 'it depends' : 'they depend'} on were planned: ${targets.join(', ')}.`
  )
}

function unknownLine(plan: Evidence['plan']): string {
  if (!plan || plan.text === null) return 'Which values are known only after apply is not available.'
  const count = plan.text.match(UNKNOWN)?.length ?? 0
  if (count === 0) return 'The plan names no value that is known only after apply.'
  return (
    `${plural(count, 'value')} of the plan ${count === 1 ? 'is' : 'are'} known only after apply, and nothing ` +
    `could be checked about ${count === 1 ? 'it' : 'them'}.`
  )
}

function costLine(generate: Evidence['generate']): string | null {
  if (!generate?.document) return null
  const open = generate.document.estimated_costs.breakdown.filter(
    ({ pricing_model }) => pricing_model === 'usage_based',
  )
  const types = [...new Set(open.map(({ resource_type }) => code(resource_type)))]
  const without =
    types.length > 0 ? ` What is charged by use is not in it: ${capLines(types, MAX_LISTED).join(', ')}.` : ''
  return `The cost estimate counts fixed monthly prices only.${without}`
}

/** Returns the assumptions of drift and import rounds, which have no reviewed plan. */
function listReadingAssumptions({ drift, import: imported }: Evidence): string[] {
  const lines: string[] = []
  if (drift)
    lines.push(
      `Drift was read in round ${drift.round}, which ended at ${formatTime(drift.created_at)}. What changed ` +
        'since then was not looked at.',
    )
  if (imported)
    lines.push(
      `The import ended at ${formatTime(imported.created_at)}. Resources of the scope that came later were ` +
        'not looked at.',
    )
  if (lines.length > 0) lines.push('No plan was pinned: this session cannot apply anything.')
  return lines
}
