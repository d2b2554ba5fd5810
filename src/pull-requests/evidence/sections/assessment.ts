import { SEVERITIES } from '../../../base/vocabulary.ts'
import { BEYOND_TITLE, isBeyondTitle } from '../../../plan/targets.ts'
import type { ComplianceReport } from '../../../reports/schemas.ts'
import { isBackgroundTitle } from '../../../reports/settle-generate.ts'
import { INTENT_TITLE, isIntentTitle } from '../../../rules/intent/describe.ts'
import type { Evidence } from '../evidence.ts'
import { bulletList, capLines, code, inline } from '../markdown.ts'
import { blocks, cappedTable, plural, reportSection, type Section, section } from '../section.ts'

const MAX_POINTS = 30

/** Shows the plan's impact level with reasons, except the two that have sections of their own. */
export const impactSection = ({ generate }: Evidence): Section | null =>
  reportSection('Impact', generate, ({ potential_impact: { banner, summary, bullet_points } }) => {
    const lead = (max: number) =>
      `**${banner.level}**: ${[inline(banner.title, 200), inline(banner.description, max)].filter(Boolean).join('. ')}`
    const points = bullet_points
      .filter(({ title }) => !isBeyondTitle(title) && !isIntentTitle(title) && !isBackgroundTitle(title))
      .map(({ title, description }) => [inline(title, 200), inline(description, 600)].filter(Boolean).join(': '))
    return [blocks(lead(1_500), inline(summary, 1_500), bulletList(capLines(points, MAX_POINTS))), lead(250)]
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

const MAX_ROWS = 40

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
    const costs = cappedTable(['Resource', 'Pricing', `${currency} a month`, 'Note'], rows, MAX_ROWS)
    return [blocks(lead, inline(introduction_paragraph, 1_000), costs), lead]
  })

type Finding = ComplianceReport['violations'][number]

const MAX_FINDINGS = 50
const FEW_FINDINGS = 5

/** Shows verdict and findings of the reviewed plan's audit. */
export function complianceSection({ compliance, generate }: Evidence): Section | null {
  if (!generate)
    return section('Compliance', 'Not audited: there is no reviewed plan. Only plans of generate rounds are audited.')
  const missing = `Not audited: no audit ran on the plan of round ${generate.round}.`
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
      cappedTable(['Severity', 'Rule', 'Resource', 'Finding', 'Fix'], sorted.map(findingCells), MAX_FINDINGS),
      inline(summary, 1_500),
      checked,
    ),
    blocks(lead, bulletList(capLines(sorted.map(findingLine), FEW_FINDINGS))),
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
