import type { ComplianceFindings, ComplianceReport } from './schemas.ts'

/** The verdict is computed here, never taken from the model: a finding of severity error or critical fails the check. */
export function complianceVerdict(findings: ComplianceFindings): ComplianceReport {
  const passed = !findings.violations.some((violation) => violation.severity === 'error' || violation.severity === 'critical')
  return { passed, ...findings }
}

/** What a round without an audit goes on with; it is not stored. */
export const emptyCompliance = (): ComplianceReport => ({ passed: true, violations: [], summary: '', checked_rules: [] })
