import type { Severity } from '../../../base/vocabulary.ts'
import type { ComplianceReport } from '../../../reports/schemas.ts'
import type { Evidence } from '../evidence.ts'
import { bulletList, capLines, code, inline } from '../markdown.ts'
import { blocks, cappedTable, plural, type Section, section } from '../section.ts'

type Finding = ComplianceReport['violations'][number]

const WORST_FIRST: readonly Severity[] = ['critical', 'error', 'warning', 'info']
const MAX_ROWS = 50
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
  const sorted = violations.toSorted((a, b) => WORST_FIRST.indexOf(a.severity) - WORST_FIRST.indexOf(b.severity))
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
      cappedTable(['Severity', 'Rule', 'Resource', 'Finding', 'Fix'], sorted.map(findingCells), MAX_ROWS),
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
