import { driftReportWriter } from '../../../src/chains/report-writers.ts'
import { storeReport } from '../../../src/reports/artifacts.ts'
import type { DriftReport } from '../../../src/reports/schemas.ts'
import { type DriftFacts, settleDriftReport } from '../../../src/reports/settle-drift.ts'
import type { Kit } from '../../kit/kit.ts'
import { runChain } from '../../kit/run-chain.ts'
import { planOutsideTargets } from '../shared/plan-outside-targets.ts'
import type { DriftResult } from './remediate-drift.ts'

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
  const [narrated] = await Promise.allSettled([narrate(kit, drift, failure), beside])
  if (narrated.status === 'rejected') throw narrated.reason
  const facts: DriftFacts = { ...drift, notes: drift.exclusions, failure, changed_files, beyond: await beside }
  const document = settleDriftReport(narrated.value, facts, secrets)
  await storeReport(run.context, run.round, { type: 'drift', document }, run.signal)
  return document
}

async function narrate(
  kit: Kit,
  { remaining, excepted, exclusions }: DriftResult,
  failure: string | null,
): Promise<DriftReport> {
  await kit.status.say('report', 'Infrastructure successfully validated. Generating report')
  return await runChain(kit, driftReportWriter, { failure, remaining, exclusions, excepted })
}
