import { PlatformError } from '../../src/base/errors.ts'
import { takeInventory } from '../../src/plan/imports/inventory.ts'
import { storePreview } from '../../src/reports/artifacts.ts'
import { createKit, type Kit } from '../kit/kit.ts'
import type { Outcome, Run } from '../kit/run.ts'
import { settleStatusAfter } from '../kit/status.ts'
import { discover } from '../steps/import/discover.ts'
import { writeImportPreviewReport } from '../steps/import/write-preview-report.ts'
import { learnDeclaredSecrets } from '../steps/shared/learn-declared-secrets.ts'

/**
 * Lists the scope and says what is managed, what is not and what is left out, for a later import that chooses from the
 * list. No model is asked, and nothing is written: neither code nor state, branch, lock or saved plan.
 */
export async function importPreview(run: Run): Promise<Outcome> {
  const kit = createKit(run)
  return await settleStatusAfter(kit, () => runImportPreview(kit))
}

async function runImportPreview(kit: Kit): Promise<Outcome> {
  const { run, secrets, status } = kit
  const { provider, scope_id } = run.round.session
  await learnDeclaredSecrets(kit)
  await status.show('filtering', `Listing the scope ${scope_id}. Nothing is imported.`)
  const discovery = await discover(kit)
  if (discovery.failure !== null) throw new PlatformError('ScopeNotListed', 502, discovery.failure)
  const inventory = takeInventory({ provider, scope_id, request: run.round.query }, discovery, secrets)
  await storePreview(run.context, run.round, inventory, run.signal)
  await writeImportPreviewReport(kit, inventory)
  return { status: 'completed' }
}
