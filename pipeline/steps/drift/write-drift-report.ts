import { reportTool } from '../../../src/agent/sentinels/report.ts'
import { cutMiddle } from '../../../src/base/text.ts'
import type { DriftOperation } from '../../../src/plan/drift.ts'
import { reportGeneratorLayout } from '../../../src/prompts/layouts/report-generator.ts'
import { driftReportQuery } from '../../../src/prompts/queries.ts'
import { storeReport } from '../../../src/reports/artifacts.ts'
import type { DriftReport } from '../../../src/reports/schemas.ts'
import { type DriftFacts, settleDriftReport } from '../../../src/reports/settle-drift.ts'
import { type Kit, runChain } from '../../kit/kit.ts'
import { inspection } from '../../kit/tools.ts'
import { planOutsideTargets } from '../shared/plan-outside-targets.ts'
import type { DriftResult } from './remediate-drift.ts'

/** Longest block of drift that is shown to a model. */
const MAX_BLOCK_CHARS = 400_000
const NOTHING_COMPARED =
  'Nothing was compared: the configuration allows no iteration (orchestration.max_drift_reports).'

/**
 * Writes and stores the report on a drift round. The model narrates what it reads in the branch diff; status,
 * addresses and what is left are computed.
 * @param changed_files files that the commits of the round changed
 * Errors: those of `runAgent`, of the object store and of `planOutsideTargets`; `ReportGenerationError`.
 */
export async function writeDriftReport(
  kit: Kit,
  drift: DriftResult,
  changed_files: readonly string[],
): Promise<DriftReport> {
  const { run, secrets } = kit
  // Without a plan and without words of the engine there was no iteration.
  const failure = drift.feedback ?? (drift.valid ? null : NOTHING_COMPARED)
  // Code that was changed for some targets may concern more than them.
  const beside =
    drift.valid && failure === null && changed_files.length > 0 ? planOutsideTargets(kit, drift.valid) : null
  // Waited for also when the model fails: its engine job works in this workspace.
  const [told] = await Promise.allSettled([narrate(kit, drift, failure), beside])
  if (told.status === 'rejected') throw told.reason
  const facts: DriftFacts = { ...drift, notes: drift.exclusions, failure, changed_files, beyond: await beside }
  const document = settleDriftReport(told.value, facts, secrets)
  await storeReport(run.context, run.round, { type: 'drift', document }, run.signal)
  return document
}

async function narrate(
  kit: Kit,
  { remaining, excepted, exclusions }: DriftResult,
  failure: string | null,
): Promise<DriftReport> {
  await kit.status.say('report', 'Infrastructure successfully validated. Generating report')
  return await runChain(kit, {
    chain: 'REPORT_GENERATOR',
    role: 'main',
    system: reportGeneratorLayout({ type: 'drift' }),
    query: driftReportQuery({
      unreconciled: block(failure, remaining),
      exceptions: block(exclusions.join('\n'), excepted),
    }),
    tools: inspection(kit),
    resultTool: reportTool('drift'),
  })
}

function block(text: string | null, operations: readonly DriftOperation[]): string {
  const parts = [text ?? '', operations.length > 0 ? JSON.stringify(operations, null, 2) : '']
  return cutMiddle(parts.filter((part) => part !== '').join('\n\n'), MAX_BLOCK_CHARS)
}
