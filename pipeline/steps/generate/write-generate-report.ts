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
 * Lets a model write the report on a plan, and stores it. The model writes the prose. Counts, changes, the lowest
 * impact level that may be reported, and what would change outside of the targets are computed from plans.
 * @param beyond the plan of the whole root, which is being made while the model writes. It is waited for also when the
 * model fails, because its engine job works in this workspace
 * @param checked the statements of the request with what the plan says about each of them
 * Errors: those of `runAgent` and of the object store; `ReportGenerationError`; those of `beyond`.
 */
export async function writeGenerateReport(
  kit: Kit,
  valid: ValidPlan,
  beyond: Promise<BeyondTargets | null> = Promise.resolve(null),
  checked: readonly StatementResult[] = [],
): Promise<GenerateReport> {
  const { run, secrets } = kit
  const [narration] = await Promise.allSettled([narrate(kit, valid), beyond])
  if (narration.status === 'rejected') throw narration.reason
  const document = settleGenerateReport(narration.value, valid.plan, secrets, await beyond, checked)
  await storeReport(run.context, run.round, { type: 'generate', document }, run.signal)
  return document
}

async function narrate(kit: Kit, valid: ValidPlan): Promise<GenerateReport> {
  await kit.status.say('report', 'Infrastructure successfully validated. Generating report')
  return await runChain(kit, generateReportWriter, { plan: describePlan(valid, kit.secrets) })
}
