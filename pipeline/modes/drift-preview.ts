import { createKit, type Kit } from '../kit/kit.ts'
import type { Outcome, Run } from '../kit/run.ts'
import { settleStatusAfter } from '../kit/status.ts'
import { lookForDrift } from '../steps/drift/look-for-drift.ts'
import { findRequestedScope } from '../steps/drift/requested-scope.ts'
import { writeDriftPreviewReport } from '../steps/drift/write-preview-report.ts'
import { learnDeclaredSecrets } from '../steps/shared/learn-declared-secrets.ts'

/**
 * Reads what differs between code, state and cloud, all of it or in a partial round what the request is about, and
 * reports it. The same reading as that of a drift round, but nothing is written: neither code nor branch, lock or saved
 * plan. A plan that fails does not fail the round: the report says what the engine said.
 */
export async function driftPreview(run: Run): Promise<Outcome> {
  const kit = createKit(run)
  return await settleStatusAfter(kit, () => runDriftPreview(kit))
}

async function runDriftPreview(kit: Kit): Promise<Outcome> {
  const { run, status } = kit
  await learnDeclaredSecrets(kit)
  await status.show('filtering', 'Looking for drift. Nothing is changed.')
  const scope = run.round.is_partial ? await findRequestedScope(kit) : { targets: [] }
  if ('declined' in scope) return { status: 'uncompleted', message: kit.secrets.text(scope.declined) }
  await writeDriftPreviewReport(kit, await lookForDrift(kit, scope.targets))
  return { status: 'completed' }
}
