import * as v from 'valibot'
import { complianceChecker } from '../../../src/chains/compliance-checker.ts'
import { describePlan } from '../../../src/chains/shared/plan-text.ts'
import { storeComplianceCheck } from '../../../src/reports/artifacts.ts'
import { complianceVerdict, emptyCompliance, mergeFindings } from '../../../src/reports/compliance.ts'
import { type ComplianceReport, complianceFindings } from '../../../src/reports/schemas.ts'
import { reportGenerationError } from '../../../src/reports/settle-generate.ts'
import { evaluateRules } from '../../../src/rules/evaluate.ts'
import type { CodeFindings } from '../../../src/rules/types.ts'
import type { Kit } from '../../kit/kit.ts'
import { runChain } from '../../kit/run-chain.ts'
import type { Conventions } from '../shared/compose-prompts.ts'
import type { ValidPlan } from '../shared/plan.ts'

/**
 * Checks the plan with the rules that are written in code, lets a model audit it against the session's first request,
 * and stores the result. The verdict is computed from the severities of both. When
 * `orchestration.enable_compliance_checker` is off, nothing is checked or stored, and the answer is an empty result
 * that passes.
 * Errors: those of `runAgent` and of the object store; `ReportGenerationError`.
 */
export async function auditCompliance(kit: Kit, valid: ValidPlan, conventions: Conventions): Promise<ComplianceReport> {
  const { run, secrets } = kit
  const { enable_compliance_checker, rules } = run.context.config.orchestration
  if (!enable_compliance_checker) return emptyCompliance()
  const code = evaluateRules(valid.plan, { targets: valid.reference.targets, grades: rules })
  const findings = await runChain(kit, complianceChecker, {
    request: run.round.session.first_query,
    plan: describePlan(valid, secrets),
    codeFindings: secrets.text(listFindings(code)),
    templates: conventions.templates,
  })
  const masked = v.safeParse(complianceFindings, secrets.json(mergeFindings(code, findings)))
  if (!masked.success) throw reportGenerationError('compliance', new v.ValiError(masked.issues))
  const document = complianceVerdict(masked.output)
  await storeComplianceCheck(run.context, run.round, document, run.signal)
  return document
}

/** Findings of code that the model is shown, so that it does not report them again; the report has all of them. */
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
