import type { ReportType } from '../base/vocabulary.ts'
import type { Query, Sql } from '../data/db/sql.ts'
import { storable } from '../data/db/values.ts'
import { assertHeld, type ClaimedRound, heldSessionQuery } from '../rounds/round.ts'

/** A stored object; `uri` is its key in the artifacts bucket. */
export interface StoredObject {
  uri: string
  content_type: string
  file_size_bytes: number
}

/** Errors: `LeaseLost` when another worker has claimed the session. */
export type Insert<Columns> = (sql: Sql, round: ClaimedRound, row: StoredObject & Columns) => Promise<number>

/**
 * Creates the function that inserts the row of a stored object and the row of a table that refers to it, or neither,
 * and returns the id of the latter.
 * @param own returns the columns that only this table has, and their values
 */
const insertInto =
  <Columns>(table: string, own: (sql: Sql, row: Columns) => [columns: Query, values: Query]): Insert<Columns> =>
  async (sql, round, row) => {
    const [columns, values] = own(sql, row)
    const rows = await sql<{ id: number }[]>`
      WITH artifact AS (${insertedArtifact(sql, round, row)})
      INSERT INTO ${sql(table)} (round_id, artifact_id, ${columns})
      SELECT ${round.id}, id, ${values} FROM artifact RETURNING id`
    assertHeld(rows)
    return rows[0]?.id ?? 0
  }

export const insertPlan = insertInto<{ targets: readonly string[] }>('engine_plans', (sql, { targets }) => [
  sql`targets`,
  sql`${targets.map((target) => storable(target))}::text[]`,
])

/** Sets the only document of a plan; when the same object was written again, its size is updated. */
export async function setPlanDocument(
  sql: Sql,
  round: ClaimedRound,
  planId: number,
  document: StoredObject,
): Promise<void> {
  const updated = await sql`
    WITH held AS (${heldSessionQuery(sql, round)})
    UPDATE artifacts SET file_size_bytes = ${document.file_size_bytes}::integer
    FROM held, engine_plans
    WHERE engine_plans.id = ${planId} AND engine_plans.round_id = ${round.id}
      AND artifacts.id = engine_plans.document_artifact_id AND artifacts.uri = ${document.uri}
    RETURNING artifacts.id`
  if (updated.length > 0) return
  assertHeld(
    await sql`
      WITH artifact AS (${insertedArtifact(sql, round, document)})
      UPDATE engine_plans SET document_artifact_id = artifact.id FROM artifact
      WHERE engine_plans.id = ${planId} AND engine_plans.round_id = ${round.id} AND document_artifact_id IS NULL
      RETURNING engine_plans.id`,
  )
}

export const insertReport = insertInto<{ type: ReportType }>('reports', (sql, { type }) => [
  sql`type`,
  sql`${type}::report_type`,
])

export const insertComplianceCheck = insertInto<{ passed: boolean }>('compliance_checks', (sql, { passed }) => [
  sql`passed`,
  sql`${passed}::boolean`,
])

/** Cuts a file name to the 254 characters of its column. */
export const insertCodeChange = insertInto<{ file_name: string }>('code_changes', (sql, { file_name }) => [
  sql`file_name`,
  sql`${[...storable(file_name)].slice(0, 254).join('')}::varchar`,
])

/** Inserts a preview; a later import may choose from `resource_ids`. */
export const insertPreview = insertInto<{ counts: Record<string, number>; resource_ids: readonly string[] }>(
  'previews',
  (sql, { counts, resource_ids }) => [
    sql`counts, resource_ids`,
    sql`${JSON.stringify(counts)}::jsonb, ${[...resource_ids]}::text[]`,
  ],
)

export const insertEngineOutput = insertInto<{ step: string; exit_code: number | null }>(
  'engine_outputs',
  (sql, { step, exit_code }) => [sql`step, exit_code`, sql`${step}::text, ${exit_code}::integer`],
)

/** Returns the query that inserts a stored object's row and returns its id; no row when the lease is lost. */
const insertedArtifact = (sql: Sql, round: ClaimedRound, object: StoredObject) => sql`
  INSERT INTO artifacts (uri, content_type, file_size_bytes)
  SELECT ${object.uri}, ${object.content_type}, ${object.file_size_bytes}::integer
  FROM (${heldSessionQuery(sql, round)}) AS held RETURNING id`
