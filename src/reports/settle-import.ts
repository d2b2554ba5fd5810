import type { Masker } from '../base/masking.ts'
import type { Excluded } from '../plan/imports/inventory.ts'
import type { Failure, Pair } from '../plan/imports/pairs.ts'
import { finishReport, type ImportReport, reportSchemas } from './schemas.ts'

/** Facts of an import round. */
export interface ImportFacts {
  imported: readonly Pair[]
  /** Selected, but not imported; the address is empty when none was proposed. */
  failed: readonly Failure[]
  excluded: readonly Excluded[]
  state_alignment: string
  /** Code's recommendations, listed before those of the model. */
  recommendations: readonly string[]
  /** Reason why nothing was selected; null when something was. */
  nothing: string | null
}

type Entry = ImportReport['imported_resources'][number]

/**
 * Settles the stored report: counts, status, results, exclusions and alignment come from facts, the prose from the
 * model. The model's words about other identifiers are removed.
 * @param narration the model's report
 * Errors: `ReportGenerationError` `report 'import' generation error.`
 */
export function settleImportReport(narration: ImportReport, facts: ImportFacts, masker: Masker): ImportReport {
  const { imported, failed, excluded, nothing } = facts
  const document: ImportReport = {
    summary: { selected: imported.length + failed.length, imported: imported.length, failed: failed.length },
    status: statusOf(facts),
    execution_summary: nothing ?? narration.execution_summary,
    imported_resources: [
      ...imported.map((pair) => settleEntry(narration, pair, 'imported', null)),
      ...failed.map((failure) => settleEntry(narration, failure, 'failed', failure.error)),
    ],
    excluded_resources: excluded.map(({ resource_id, details }) => ({ resource_id, details })),
    state_alignment: facts.state_alignment,
    recommendations: [...facts.recommendations, ...narration.recommendations],
  }
  return finishReport('import', reportSchemas.import, document, masker)
}

/** Returns the status; a round without anything to import succeeded. */
function statusOf({ imported, failed }: ImportFacts): ImportReport['status'] {
  if (failed.length === 0) return 'Succeeded'
  return imported.length === 0 ? 'Failed' : 'Partial'
}

function settleEntry(
  narration: ImportReport,
  { address, resource_id }: Pair,
  status: Entry['status'],
  errorMessage: string | null,
): Entry {
  const details =
    narration.imported_resources.find((candidate) => candidate.resource_id.trim() === resource_id)?.details ?? ''
  return { resource_address: address, resource_id, status, details, error_message: errorMessage }
}
