import type { PlanDocument } from '../../client/api/schemas.ts'
import { listOf, objectOf, textOf, textsOf } from '../../client/json.ts'

/** One resource that a round was to import. */
export interface ImportedResource {
  id: string
  address: string
  /** The reason why it was not imported; null if it was. */
  error: string | null
  details: string
}

export interface ImportReport {
  status: 'Succeeded' | 'Partial' | 'Failed'
  summary: string
  alignment: string
  imported: ImportedResource[]
  refused: ImportedResource[]
  excluded: { id: string; details: string }[]
  recommendations: string[]
}

/** Reads the report of an import round; null for any other document. */
export function readImportReport(document: unknown): ImportReport | null {
  const fields = objectOf(document)
  const { status } = fields
  if (status !== 'Succeeded' && status !== 'Partial' && status !== 'Failed') return null
  const all = listOf(fields.imported_resources)
    .map(objectOf)
    .map((of) => ({
      isImported: of.status === 'imported',
      id: textOf(of.resource_id),
      address: textOf(of.resource_address),
      error: textOf(of.error_message) || null,
      details: textOf(of.details),
    }))
  return {
    status,
    summary: textOf(fields.execution_summary),
    alignment: textOf(fields.state_alignment),
    imported: all.filter(({ isImported }) => isImported),
    refused: all.filter(({ isImported }) => !isImported),
    excluded: listOf(fields.excluded_resources)
      .map(objectOf)
      .map((of) => ({
        id: textOf(of.resource_id),
        details: textOf(of.details),
      })),
    recommendations: textsOf(fields.recommendations),
  }
}

/** The actions that change objects. */
const CHANGES = ['create', 'update', 'replace', 'delete', 'import', 'move', 'forget'] as const

/** Returns the number of resources and outputs that a plan would change. */
export function countChanges({ summary, outputs }: Pick<PlanDocument, 'summary' | 'outputs'>): number {
  return CHANGES.reduce((sum, action) => sum + (summary[action] ?? 0), 0) + (outputs?.length ?? 0)
}

/** Returns true when engine output says that a plan is empty; null when it does not say. */
export function saysNoChanges(text: string): boolean | null {
  if (/^No changes\. /m.test(text)) return true
  return /^Plan: \d+ to (?:import|add)/m.test(text) || /^Changes to Outputs:/m.test(text) ? false : null
}
