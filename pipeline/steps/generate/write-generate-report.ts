import { generateReportWriter } from '../../../src/chains/report-writers.ts'
import { describePlan, type PlanBackground } from '../../../src/chains/shared/plan-background.ts'
import type { BeyondTargets } from '../../../src/plan/targets.ts'
import { storeReport } from '../../../src/reports/artifacts.ts'
import type { GenerateReport } from '../../../src/reports/schemas.ts'
import { settleGenerateReport } from '../../../src/reports/settle-generate.ts'
import type { StatementResult } from '../../../src/rules/intent/statement.ts'
import type { Kit } from '../../kit/kit.ts'
import { runChain } from '../../kit/run-chain.ts'
import type { ValidPlan } from '../plan/plan.ts'

export interface Reported {
  background: PlanBackground
  /** The pending plan of the whole root. */
  beyond: Promise<BeyondTargets | null>
  /** The statements of the request with their results for the plan. */
  checked: readonly StatementResult[]
}

/**
 * Lets a model write the prose of the report on a plan, and stores it. Counts, changes, minimum impact, costs, changes
 * outside of the targets and other known facts come from code. Errors: those of `runAgent` and of the object store;
 * `ReportGenerationError`; those of `beyond`.
 */
export async function writeGenerateReport(
  kit: Kit,
  valid: ValidPlan,
  { background, beyond, checked }: Reported,
): Promise<GenerateReport> {
  const { run, secrets } = kit
  const plan = describePlan(valid, secrets)
  const narration = await runChain(kit, generateReportWriter, { ...background, plan })
  const { result } = background
  const document = settleGenerateReport(narration, valid.plan, secrets, { beyond: await beyond, checked, result })
  await storeReport(run.context, run.round, { type: 'generate', document }, run.signal)
  return document
}
