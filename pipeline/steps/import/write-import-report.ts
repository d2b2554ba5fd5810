import { reportTool } from '../../../src/agent/sentinels/report.ts'
import { cutMiddle } from '../../../src/base/text.ts'
import { reportGeneratorLayout } from '../../../src/prompts/layouts/report-generator.ts'
import { reportQuery } from '../../../src/prompts/queries.ts'
import { storeReport } from '../../../src/reports/artifacts.ts'
import { type ImportFacts, settleImportReport } from '../../../src/reports/settle-import.ts'
import { type Kit, runChain } from '../../kit/kit.ts'
import { webSearch } from '../../kit/tools.ts'
import { planForModel } from '../generate/write-generate-report.ts'
import type { ValidPlan } from '../shared/plan.ts'

/** Longest list of excluded identifiers that is shown to a model; the report has them all. */
const MAX_EXCLUDED = 500
/** Longest input of the report. */
const MAX_CHARS = 500_000

/**
 * Writes and stores the report on an import. The model narrates; results, counts and alignment are facts.
 * @param plan the plan after the import; null when nothing was selected
 * Errors: those of `runAgent` and of the object store; `ReportGenerationError`.
 */
export async function writeImportReport(kit: Kit, facts: ImportFacts, plan: ValidPlan | null): Promise<void> {
  const { run, secrets, status } = kit
  await status.say('report', 'Infrastructure successfully validated. Generating report')
  const told = await runChain(kit, {
    chain: 'REPORT_GENERATOR',
    role: 'main',
    system: reportGeneratorLayout({ type: 'import' }),
    query: reportQuery('import', cutMiddle(JSON.stringify(inputOf(kit, facts, plan), null, 2), MAX_CHARS)),
    tools: [webSearch(kit, 'main')],
    resultTool: reportTool('import'),
  })
  const document = settleImportReport(told, facts, secrets)
  await storeReport(run.context, run.round, { type: 'import', document }, run.signal)
}

function inputOf(kit: Kit, { imported, failed, excluded, nothing }: ImportFacts, plan: ValidPlan | null) {
  const excluded_ids = excluded.slice(0, MAX_EXCLUDED).map(({ resource_id }) => resource_id)
  const more = excluded.length - excluded_ids.length
  return {
    selected_resource_ids: [...imported, ...failed].map(({ resource_id }) => resource_id),
    excluded_resource_ids: more > 0 ? [...excluded_ids, `and ${more} more`] : excluded_ids,
    import_results: { imported: imported.map((pair) => ({ ...pair, error: null })), failed },
    ...(plan ? { plan_after_import: planForModel(kit, plan) } : { summary: nothing?.text ?? '' }),
  }
}
