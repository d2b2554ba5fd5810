import type { Severity } from '../../../base/vocabulary.ts'
import type { ComplianceReport } from '../../../reports/schemas.ts'
import type { Evidence } from '../evidence.ts'
import { bulletList, capLines, code, inline, table } from '../markdown.ts'
import { blocks, plural, type Section, section } from '../section.ts'

type Finding = ComplianceReport['violations'][number]

const WORST_FIRST: readonly Severity[] = ['critical', 'error', 'warning', 'info']
const MAX_ROWS = 50
const FEW_FINDINGS = 5

/** Shows verdict and findings of the reviewed plan's audit. */
export function complianceSection({ compliance, generate }: Evidence): Section | null {
  if (!generate)
    return section('Compliance', 'Not audited: there is no reviewed plan. Only plans of generate rounds are audited.')
  if (!compliance) return section('Compliance', `Not audited: no audit ran on the plan of round ${generate.round}.`)
  const verdict = compliance.passed ? '**Passed**' : '**Not passed**'
  if (compliance.round !== generate.round) {
    const earlier = `The latest audit is of round ${compliance.round}: ${verdict}.`
    return section('Compliance', `Not audited: no audit ran on the plan of round ${generate.round}. ${earlier}`)
  }
  if (!compliance.document)
    return section(
      'Compliance',
      `${verdict} (round ${compliance.round}). The findings could not be read; the session holds them.`,
    )
  const { violations, summary, checked_rules } = compliance.document
  const sorted = violations.toSorted((a, b) => WORST_FIRST.indexOf(a.severity) - WORST_FIRST.indexOf(b.severity))
  const lead = `${verdict} (round ${compliance.round}): ${countBySeverity(sorted)}.`
  const checked =
    checked_rules.length > 0 &&
    `Checked: ${capLines(
      checked_rules.map((rule) => code(rule, 80)),
      60,
    ).join(', ')}`
  const rows = sorted.slice(0, MAX_ROWS).map(findingCells)
  return section(
    'Compliance',
    blocks(
      lead,
      rows.length > 0 && table(['Severity', 'Rule', 'Resource', 'Finding', 'Fix'], rows),
      sorted.length > MAX_ROWS && `and ${sorted.length - MAX_ROWS} more`,
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

function countBySeverity(findings: readonly Finding[]): string {
  if (findings.length === 0) return 'no findings'
  const counts = WORST_FIRST.map((severity) => ({
    severity,
    count: findings.filter((finding) => finding.severity === severity).length,
  }))
  const parts = counts.filter(({ count }) => count > 0).map(({ severity, count }) => `${count} ${severity}`)
  return `${plural(findings.length, 'finding')}, ${parts.join(', ')}`
}
