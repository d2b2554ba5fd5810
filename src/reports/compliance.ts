import { joinNames } from '../base/text.ts'
import { SEVERITIES, type Severity } from '../base/vocabulary.ts'
import type { CodeFindings } from '../rules/rule.ts'
import type { ComplianceFindings, ComplianceReport } from './schemas.ts'

/** Adds the verdict: one finding of severity `error` or `critical` fails the check; the model has no say. */
export function complianceVerdict(findings: ComplianceFindings): ComplianceReport {
  return { passed: blockingFindings(findings.violations).length === 0, ...findings }
}

/** Returns the findings that fail the check. */
export const blockingFindings = <Finding extends { severity: Severity }>(findings: readonly Finding[]): Finding[] =>
  findings.filter(({ severity }) => BLOCKS.has(severity))

/** Merges findings and summaries, the rules' first; the model's summary stands alone when the rules found nothing. */
export function mergeFindings(code: CodeFindings, model: ComplianceFindings): ComplianceFindings {
  const modelSummary = model.summary.trim()
  return {
    violations: [...code.findings, ...model.violations],
    summary:
      code.findings.length === 0 && modelSummary !== ''
        ? modelSummary
        : [summariseRules(code), modelSummary].filter((text) => text !== '').join(' '),
    checked_rules: [...new Set([...code.checked_rules, ...model.checked_rules])],
  }
}

const NOTHING_CHANGED = 'The plan changes no resource, so that there was no change to check.'

/** Begins the summary with the sentence that a plan without changes gave nothing to check. */
export const ofEmptyPlan = (findings: ComplianceFindings): ComplianceFindings => ({
  ...findings,
  summary: [NOTHING_CHANGED, findings.summary.trim()].filter((text) => text !== '').join(' '),
})

/** Returns the result of a round without a compliance check, which is not stored. */
export const emptyCompliance = (): ComplianceReport => ({
  passed: true,
  violations: [],
  summary: '',
  checked_rules: [],
})

/** Summarises the findings: `Code checked 61 rules: 1 critical, 2 warnings. Blocking: aws.network.open-all-ports.` */
function summariseRules({ checked_rules, findings }: CodeFindings): string {
  const checked = `Code checked ${checked_rules.length} ${checked_rules.length === 1 ? 'rule' : 'rules'}`
  if (findings.length === 0) return `${checked}: no findings.`
  const counts = SEVERITIES.toReversed().flatMap((severity) => {
    const count = findings.filter((finding) => finding.severity === severity).length
    return count === 0 ? [] : [`${count} ${NAMES[severity][count === 1 ? 0 : 1]}`]
  })
  const blocking = [...new Set(findings.filter(({ severity }) => BLOCKS.has(severity)).map(({ rule_id }) => rule_id))]
  const blockers = blocking.length === 0 ? '' : ` Blocking: ${joinNames(blocking, 5)}.`
  return `${checked}: ${counts.join(', ')}.${blockers}`
}

const BLOCKS: ReadonlySet<Severity> = new Set(['critical', 'error'])
const NAMES: Record<Severity, [one: string, more: string]> = {
  critical: ['critical', 'critical'],
  error: ['error', 'errors'],
  warning: ['warning', 'warnings'],
  info: ['remark', 'remarks'],
}
