import * as v from 'valibot'
import { complianceFindingsTool } from '../../src/agent/sentinels/compliance-findings.ts'
import { storeComplianceCheck } from '../../src/artifacts/store.ts'
import { reportGenerationError } from '../../src/plan/settle-report.ts'
import { complianceCheckerLayout } from '../../src/prompts/layouts/compliance-checker.ts'
import { complianceQuery } from '../../src/prompts/queries.ts'
import { complianceVerdict, emptyCompliance } from '../../src/reports/compliance.ts'
import { type ComplianceReport, complianceFindings } from '../../src/reports/schemas.ts'
import type { Conventions } from './compose-prompts.ts'
import { type Kit, runChain } from './kit.ts'
import type { ValidPlan } from './plan.ts'
import { promptBodies } from './prompt-bodies.ts'
import { planForModel } from './write-report.ts'

/**
 * Lets a second model audit the session's first request against the plan. The verdict is computed from
 * the severities. Switched off, it answers an empty passing result and stores nothing.
 */
export async function auditCompliance(kit: Kit, valid: ValidPlan, conventions: Conventions): Promise<ComplianceReport> {
  const { run, secrets } = kit
  if (!run.context.config.orchestration.enable_compliance_checker) return emptyCompliance()
  const findings = await runChain(kit, {
    chain: 'COMPLIANCE_CHECKER',
    role: 'small',
    system: await auditorSystem(kit, conventions),
    query: complianceQuery(run.round.session.first_query, planForModel(kit, valid)),
    sentinel: complianceFindingsTool(),
  })
  const masked = v.safeParse(complianceFindings, secrets.json(findings))
  if (!masked.success) throw reportGenerationError('compliance', new v.ValiError(masked.issues))
  const document = complianceVerdict(masked.output)
  await storeComplianceCheck(run.context, run.round, document, run.signal)
  return document
}

async function auditorSystem({ run }: Kit, { templates }: Conventions): Promise<string> {
  const { provider } = run.round.session
  const [rules, engine, resource_creation, networking, permissions, forbidden_actions] = await promptBodies(
    run,
    'general-compliance-report',
    'general-guidelines-engine',
    `${provider}-guidelines-resource_creation`,
    `${provider}-guidelines-networking`,
    `${provider}-guidelines-permissions`,
    `${provider}-guidelines-forbidden_actions`,
  )
  return complianceCheckerLayout({ rules, engine, resource_creation, networking, permissions, forbidden_actions, templates })
}
