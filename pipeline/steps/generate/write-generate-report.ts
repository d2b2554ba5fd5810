import { reportTool } from '../../../src/agent/sentinels/report.ts'
import { cutMiddle } from '../../../src/base/text.ts'
import type { Evaluated } from '../../../src/intent/types.ts'
import { planFacts } from '../../../src/plan/facts.ts'
import type { BeyondTargets } from '../../../src/plan/targets.ts'
import { reportGeneratorLayout } from '../../../src/prompts/layouts/report-generator.ts'
import { reportQuery } from '../../../src/prompts/queries.ts'
import { storeReport } from '../../../src/reports/artifacts.ts'
import type { GenerateReport } from '../../../src/reports/schemas.ts'
import { settleGenerateReport } from '../../../src/reports/settle-generate.ts'
import { type Kit, promptBodies, runChain } from '../../kit/kit.ts'
import { webSearch } from '../../kit/tools.ts'
import type { ValidPlan } from '../shared/plan.ts'

/** Longest plan text that is shown to a model. */
const MAX_PLAN_CHARS = 400_000

/** The plan as a model reads it: what is computed from it, then its text, cut in the middle when it is long. */
export const planForModel = ({ secrets }: Kit, { plan, text, reference, beyond }: ValidPlan) =>
  `Computed from the plan: ${secrets.text(planFacts(plan, reference.targets, beyond))}\n\n${cutMiddle(text, MAX_PLAN_CHARS)}`

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
  checked: readonly Evaluated[] = [],
): Promise<GenerateReport> {
  const { run, secrets } = kit
  const [told] = await Promise.allSettled([narrate(kit, valid), beyond])
  if (told.status === 'rejected') throw told.reason
  const document = settleGenerateReport(told.value, valid.plan, secrets, await beyond, checked)
  await storeReport(run.context, run.round, { type: 'generate', document }, run.signal)
  return document
}

async function narrate(kit: Kit, valid: ValidPlan): Promise<GenerateReport> {
  await kit.status.say('report', 'Infrastructure successfully validated. Generating report')
  const [impact] = await promptBodies(kit.run, 'general-compliance-impact')
  return await runChain(kit, {
    chain: 'REPORT_GENERATOR',
    role: 'main',
    system: reportGeneratorLayout({ type: 'generate', impact }),
    query: reportQuery('plan', planForModel(kit, valid)),
    tools: [webSearch(kit, 'main')],
    resultTool: reportTool('generate'),
  })
}
