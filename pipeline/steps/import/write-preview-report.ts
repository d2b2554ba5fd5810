import { stateAlignment } from '../../../src/plan/imports/alignment.ts'
import type { ScopeInventory } from '../../../src/plan/imports/inventory.ts'
import { storeReport } from '../../../src/reports/artifacts.ts'
import { settleImportReport } from '../../../src/reports/settle-import.ts'
import type { Kit } from '../../kit/kit.ts'

/**
 * Writes and stores the report on an import preview: nothing was selected and nothing imported. What the scope holds is
 * counted here, and listed in the artifact of the preview.
 * Errors: those of the object store; `ReportGenerationError`.
 */
export async function writeImportPreviewReport(
  { run, secrets, status }: Kit,
  inventory: ScopeInventory,
): Promise<void> {
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
