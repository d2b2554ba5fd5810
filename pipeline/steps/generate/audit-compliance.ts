import { complianceChecker } from '../../../src/chains/compliance-checker.ts'
import { describePlan, type PlanBackground } from '../../../src/chains/shared/plan-background.ts'
import { changedTypes } from '../../../src/plan/planned-changes.ts'
import { complianceVerdict, mergeFindings } from '../../../src/reports/compliance.ts'
import { type ComplianceReport, complianceFindings, finishReport } from '../../../src/reports/schemas.ts'
import { evaluateRules } from '../../../src/rules/evaluate.ts'
import type { CodeFindings, Finding as RuleFinding } from '../../../src/rules/rule.ts'
import type { Finding } from '../../kit/attempts/findings.ts'
import type { Kit } from '../../kit/kit.ts'
import { runChain } from '../../kit/run-chain.ts'
import type { ValidPlan } from '../plan/plan.ts'
import { type Conventions, templatesFor } from '../shared/compose-prompts.ts'

export interface Audit {
  background: PlanBackground
  conventions: Pick<Conventions, 'templates' | 'templateNames'>
  /** Aborts the model call of the audit. */
  signal?: AbortSignal
}

/** Checks the plan with rules and a model. Errors: those of `runAgent`; `ReportGenerationError`. */
export async function auditCompliance(kit: Kit, valid: ValidPlan, audit: Audit): Promise<ComplianceReport> {
  const { run, secrets } = kit
  const { rules } = run.context.config.orchestration
  const code = evaluateRules(valid.plan, { targets: valid.reference.targets, grades: rules })
  for (const { rule_id, severity, resource } of code.findings.slice(0, MAX_SHOWN))
    run.eventLog.activity({ type: 'rule.found', rule: rule_id, severity, address: resource ?? null })
  await kit.attempts.review(code.findings.map(toFinding))
  const types = changedTypes(valid.plan)
  const values = {
    ...audit.background,
    plan: describePlan(valid, secrets),
    types,
    codeFindings: secrets.text(listFindings(code)),
    templates: templatesFor(audit.conventions, types),
  }
  const findings = await runChain(kit, complianceChecker, values, audit.signal ? { signal: audit.signal } : {})
  return complianceVerdict(finishReport('compliance', complianceFindings, mergeFindings(code, findings), secrets))
}

const toFinding = ({ rule_id, severity, resource, message, suggested_fix }: RuleFinding): Finding => ({
  severity: severity === 'error' || severity === 'critical' ? 'error' : 'warning',
  summary: message,
  detail: suggested_fix ?? '',
  address: resource,
  rule: rule_id,
})

/** Maximum findings of code that the model is shown so that it does not repeat them; the report has all of them. */
const MAX_SHOWN = 200

function listFindings({ findings }: CodeFindings): string {
  const lines = findings.map(
    ({ rule_id, severity, resource, message }) => `${severity} ${rule_id} ${resource ?? ''}: ${message}`,
  )
  return [
    ...lines.slice(0, MAX_SHOWN),
    ...(lines.length > MAX_SHOWN ? [`and ${lines.length - MAX_SHOWN} more`] : []),
  ].join('\n')
}
