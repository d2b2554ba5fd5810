import { cutMiddle } from '../../src/agent/cut-middle.ts'
import { reportTool } from '../../src/agent/sentinels/report.ts'
import { storeReport } from '../../src/artifacts/store.ts'
import { planFacts } from '../../src/plan/facts.ts'
import { settleGenerateReport } from '../../src/plan/settle-report.ts'
import { reportGeneratorLayout } from '../../src/prompts/layouts/report-generator.ts'
import { reportQuery } from '../../src/prompts/queries.ts'
import type { GenerateReport } from '../../src/reports/schemas.ts'
import { type Kit, runChain } from './kit.ts'
import type { ValidPlan } from './plan.ts'
import { promptBodies } from './prompt-bodies.ts'
import { webSearch } from './tools.ts'

/** Longest plan text that is shown to a model. */
const MAX_PLAN_CHARS = 400_000

/** The plan as a model reads it: what is computed from it, then its text, cut in the middle when it is long. */
export const planForModel = ({ secrets }: Kit, { plan, text, reference }: ValidPlan) =>
  `Computed from the plan: ${secrets.text(planFacts(plan, reference.targets))}\n\n${cutMiddle(text, MAX_PLAN_CHARS)}`

/**
 * Writes and stores the report on a plan. The model narrates; counts, changes and the least impact level
 * are the plan's.
 * Errors: those of `runAgent` and of the object store; `ReportGenerationError`.
 */
export async function writeGenerateReport(kit: Kit, valid: ValidPlan): Promise<GenerateReport> {
  const { run, secrets, status } = kit
  await status.say('report', 'Infrastructure successfully validated. Generating report')
  const [impact] = await promptBodies(run, 'general-compliance-impact')
  const told = await runChain(kit, {
    chain: 'REPORT_GENERATOR',
    role: 'main',
    system: reportGeneratorLayout({ type: 'generate', impact }),
    query: reportQuery('plan', planForModel(kit, valid)),
    tools: [webSearch(kit, 'main')],
    sentinel: reportTool('generate'),
  })
  const document = settleGenerateReport(told, valid.plan, secrets)
  await storeReport(run.context, run.round, { type: 'generate', document }, run.signal)
  return document
}
