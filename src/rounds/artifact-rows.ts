import type { Query, Transaction } from '../data/db/sql.ts'

/** The tables that refer to stored objects. Plans have a second object, their document. */
const KINDS = ['reports', 'compliance_checks', 'code_changes', 'previews', 'engine_outputs'] as const

/**
 * Deletes the rows of the artifacts of rounds. Their objects stay in the store until their session is removed.
 * @param rounds a query for the ids of the rounds
 */
export async function deleteArtifactRows(tx: Transaction, rounds: Query): Promise<void> {
  const gone = KINDS.reduce<Query>(
    (all, table) => tx`${all}, ${tx(table)} AS (
      DELETE FROM ${tx(table)} WHERE round_id IN (${rounds}) RETURNING artifact_id)`,
    tx`engine_plans AS (
      DELETE FROM engine_plans WHERE round_id IN (${rounds}) RETURNING artifact_id, document_artifact_id)`,
  )
  const ids = KINDS.reduce<Query>(
    (all, table) => tx`${all} UNION ALL SELECT artifact_id FROM ${tx(table)}`,
    tx`SELECT artifact_id FROM engine_plans
       UNION ALL SELECT document_artifact_id FROM engine_plans WHERE document_artifact_id IS NOT NULL`,
  )
  await tx`WITH ${gone} DELETE FROM artifacts WHERE id IN (${ids})`
}
