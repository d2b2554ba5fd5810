import { type CodeFindings, ruleSummary } from './rule-summary.ts'
import type { ComplianceFindings, ComplianceReport } from './schemas.ts'

/** The verdict is computed here, never taken from the model: a finding of severity error or critical fails the check. */
export function complianceVerdict(findings: ComplianceFindings): ComplianceReport {
  const passed = !findings.violations.some(
    (violation) => violation.severity === 'error' || violation.severity === 'critical',
  )
  return { passed, ...findings }
}

/** Findings of code before those of the model; the summary says what code found, if it did, then what the model says. */
export function mergedFindings(code: CodeFindings, model: ComplianceFindings): ComplianceFindings {
  const told = model.summary.trim()
  return {
    violations: [...code.findings, ...model.violations],
    summary:
      code.findings.length === 0 && told !== ''
        ? told
        : [ruleSummary(code), told].filter((text) => text !== '').join(' '),
    checked_rules: [...new Set([...code.checked_rules, ...model.checked_rules])],
  }
}

/** What a round without an audit goes on with; it is not stored. */
export const emptyCompliance = (): ComplianceReport => ({
  passed: true,
  violations: [],
  summary: '',
  checked_rules: [],
})
