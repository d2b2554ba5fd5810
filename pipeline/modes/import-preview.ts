import { PlatformError } from '../../src/base/errors.ts'
import { stateAlignment } from '../../src/plan/imports/alignment.ts'
import { type ScopeInventory, takeInventory } from '../../src/plan/imports/inventory.ts'
import { storePreview, storeReport } from '../../src/reports/artifacts.ts'
import { settleImportReport } from '../../src/reports/settle-import.ts'
import { createKit, type Kit } from '../kit/kit.ts'
import type { Outcome, Run } from '../kit/run.ts'
import { settleStatusAfter } from '../kit/status.ts'
import { discover } from '../steps/import/discover.ts'
import { learnDeclaredSecrets } from '../steps/shared/learn-declared-secrets.ts'

/** Lists what is managed, unmanaged and left out, for a later import. Uses no model and changes nothing. */
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

/** Stores the report, with counts only. Errors: those of the object store; `ReportGenerationError`. */
async function writeImportPreviewReport({ run, secrets, status }: Kit, inventory: ScopeInventory): Promise<void> {
  await status.show('report', 'Writing the report on what the scope holds.')
  const { managed, unmanaged, left_out } = inventory.counts
  const counts = `${managed} managed, ${unmanaged} not managed, ${left_out} left out`
  const nothing = `Preview of the scope ${inventory.scope_id}: ${counts}. Nothing was imported.`
  const facts = {
    imported: [],
    failed: [],
    excluded: inventory.left_out.map(({ resource_id, reason }) => ({ resource_id, details: reason })),
    state_alignment: stateAlignment([], null).text,
    recommendations: [],
    nothing,
  }
  const document = settleImportReport(
    {
      summary: { selected: 0, imported: 0, failed: 0 },
      status: 'Succeeded',
      execution_summary: nothing,
      imported_resources: [],
      excluded_resources: [],
      state_alignment: '',
      recommendations: [],
    },
    facts,
    secrets,
  )
  await storeReport(run.context, run.round, { type: 'import', document }, run.signal)
}
