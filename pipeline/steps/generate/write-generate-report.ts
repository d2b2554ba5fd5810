import { generateReportWriter } from '../../../src/chains/report-writers.ts'
import { describePlan } from '../../../src/chains/shared/plan-text.ts'
import type { StatementResult } from '../../../src/intent/types.ts'
import type { BeyondTargets } from '../../../src/plan/targets.ts'
import { storeReport } from '../../../src/reports/artifacts.ts'
import type { GenerateReport } from '../../../src/reports/schemas.ts'
import { settleGenerateReport } from '../../../src/reports/settle-generate.ts'
import type { Kit } from '../../kit/kit.ts'
import { runChain } from '../../kit/run-chain.ts'
import type { ValidPlan } from '../shared/plan.ts'

/**
 * Writes and stores the report on a plan. The model narrates; counts, changes, the least impact level and
 * what lies outside the targets are of plans.
 * @param checked what the plan has of the request
 * @param beyond under way while the model writes; also waited for when the model fails, because its
 * engine job works in this workspace
 * Errors: those of `runAgent` and of the object store; `ReportGenerationError`; those of `beyond`.
 */
export async function writeGenerateReport(
  kit: Kit,
  valid: ValidPlan,
  beyond: Promise<BeyondTargets | null> = Promise.resolve(null),
  checked: readonly StatementResult[] = [],
): Promise<GenerateReport> {
  const { run, secrets } = kit
  const [narrated] = await Promise.allSettled([narrate(kit, valid), beyond])
  if (narrated.status === 'rejected') throw narrated.reason
  const document = settleGenerateReport(narrated.value, valid.plan, secrets, await beyond, checked)
  await storeReport(run.context, run.round, { type: 'generate', document }, run.signal)
  return document
}

async function narrate(kit: Kit, valid: ValidPlan): Promise<GenerateReport> {
  await kit.status.say('report', 'Infrastructure successfully validated. Generating report')
  return await runChain(kit, generateReportWriter, { plan: describePlan(valid, kit.secrets) })
}
