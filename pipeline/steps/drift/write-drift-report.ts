import { driftReportWriter } from '../../../src/chains/report-writers.ts'
import { storeReport } from '../../../src/reports/artifacts.ts'
import type { DriftReport } from '../../../src/reports/schemas.ts'
import { type DriftFacts, settleDriftReport } from '../../../src/reports/settle-drift.ts'
import type { Kit } from '../../kit/kit.ts'
import { runChain } from '../../kit/run-chain.ts'
import { planOutsideTargets } from '../plan/plan-outside-targets.ts'
import type { DriftResult } from './drift-task.ts'

const NOTHING_COMPARED =
  'Nothing was compared: the configuration allows no iteration (orchestration.max_drift_reports).'

/**
 * Lets a model write the report on a drift round from the branch diff, and stores it. Status, addresses and remaining
 * drift are computed and override the model. Errors: those of `runAgent`, of the workspace, of the object store and of
 * `planOutsideTargets`; `ReportGenerationError`.
 * @param changedFiles files that the commits of the round changed
 */
export async function writeDriftReport(
  kit: Kit,
  drift: DriftResult,
  changedFiles: readonly string[],
): Promise<DriftReport> {
  const { run, secrets } = kit
  // Without a plan and an engine failure, no iteration took place.
  const failure = drift.feedback ?? (drift.valid ? null : NOTHING_COMPARED)
  // Code that was changed for some targets may also change other resources.
  const outsideTargets =
    drift.valid && failure === null && changedFiles.length > 0 ? planOutsideTargets(kit, drift.valid) : null
  // Both are awaited, also when the model fails, because the engine job of the plan works in this workspace.
  const [narration] = await Promise.allSettled([narrate(kit, drift, failure), outsideTargets])
  if (narration.status === 'rejected') throw narration.reason
  const facts: DriftFacts = {
    ...drift,
    notes: drift.exclusions,
    failure,
    changedFiles,
    beyond: await outsideTargets,
  }
  const document = settleDriftReport(narration.value, facts, secrets)
  await storeReport(run.context, run.round, { type: 'drift', document }, run.signal)
  return document
}

async function narrate(
  kit: Kit,
  { remaining, excepted, exclusions, written }: DriftResult,
  failure: string | null,
): Promise<DriftReport> {
  await kit.status.say('report', 'Infrastructure successfully validated. Generating report')
  const diff = await kit.run.workspace.branchDiff()
  return await runChain(kit, driftReportWriter, { failure, remaining, exclusions, excepted, written, diff })
}
