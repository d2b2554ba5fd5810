import { importReportWriter } from '../../../src/chains/report-writers.ts'
import { describePlan } from '../../../src/chains/shared/plan-background.ts'
import { storeReport } from '../../../src/reports/artifacts.ts'
import { type ImportFacts, settleImportReport } from '../../../src/reports/settle-import.ts'
import type { Kit } from '../../kit/kit.ts'
import { runChain } from '../../kit/run-chain.ts'
import type { ValidPlan } from '../plan/plan.ts'

/**
 * Lets a model write the prose of the report on an import, and stores it. Results, counts and the comparison with the
 * state come from code. Errors: those of `runAgent` and of the object store; `ReportGenerationError`.
 * @param plan the plan after the import; null when nothing was selected
 */
export async function writeImportReport(kit: Kit, facts: ImportFacts, plan: ValidPlan | null): Promise<void> {
  const { run, secrets, status } = kit
  await status.say('report', 'Infrastructure successfully validated. Generating report')
  const request = run.round.is_partial ? secrets.text(run.round.query) : ''
  const narration = await runChain(kit, importReportWriter, {
    facts,
    plan: plan && describePlan(plan, secrets),
    request,
  })
  const document = settleImportReport(narration, facts, secrets)
  await storeReport(run.context, run.round, { type: 'import', document }, run.signal)
}
