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

/** The row of a kind of artifact: table, specific columns and their values. */
interface KindRow {
  table: string
  columns: Query
  values: Query
}

/**
 * Inserts the row of a stored object and the row that refers to it, or neither.
 * @returns the id of the latter
 * Errors: `LeaseLost` when another worker has claimed the session.
 */
async function insertKind(sql: Sql, round: ClaimedRound, object: StoredObject, row: KindRow): Promise<number> {
  const rows = await sql<{ id: number }[]>`
    WITH artifact AS (${insertedArtifact(sql, round, object)})
    INSERT INTO ${sql(row.table)} (round_id, artifact_id, ${row.columns})
    SELECT ${round.id}, id, ${row.values} FROM artifact RETURNING id`
  assertHeld(rows)
  return rows[0]?.id ?? 0
}

type Insert<Columns> = (sql: Sql, round: ClaimedRound, row: StoredObject & Columns) => Promise<number>

export const insertPlan: Insert<{ targets: readonly string[] }> = (sql, round, plan) => {
  const targets = plan.targets.map((target) => storable(target))
  return insertKind(sql, round, plan, {
    table: 'engine_plans',
    columns: sql`targets`,
    values: sql`${targets}::text[]`,
  })
}

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

export const insertReport: Insert<{ type: ReportType }> = (sql, round, report) =>
  insertKind(sql, round, report, {
    table: 'reports',
    columns: sql`type`,
    values: sql`${report.type}::report_type`,
  })

export const insertComplianceCheck: Insert<{ passed: boolean }> = (sql, round, check) =>
  insertKind(sql, round, check, {
    table: 'compliance_checks',
    columns: sql`passed`,
    values: sql`${check.passed}::boolean`,
  })

/** Cuts a file name to the 254 characters of its column. */
export const insertCodeChange: Insert<{ file_name: string }> = (sql, round, change) => {
  const fileName = [...storable(change.file_name)].slice(0, 254).join('')
  return insertKind(sql, round, change, {
    table: 'code_changes',
    columns: sql`file_name`,
    values: sql`${fileName}::varchar`,
  })
}

/** Inserts a preview; a later import may choose from `resource_ids`. */
export const insertPreview: Insert<{ counts: Record<string, number>; resource_ids: readonly string[] }> = (
  sql,
  round,
  { counts, resource_ids, ...object },
) =>
  insertKind(sql, round, object, {
    table: 'previews',
    columns: sql`counts, resource_ids`,
    values: sql`${JSON.stringify(counts)}::jsonb, ${[...resource_ids]}::text[]`,
  })

export const insertEngineOutput: Insert<{ step: string; exit_code: number | null }> = (sql, round, output) =>
  insertKind(sql, round, output, {
    table: 'engine_outputs',
    columns: sql`step, exit_code`,
    values: sql`${output.step}::text, ${output.exit_code}::integer`,
  })

/** Returns the query that inserts a stored object's row and returns its id; no row when the lease is lost. */
const insertedArtifact = (sql: Sql, round: ClaimedRound, object: StoredObject) => sql`
  INSERT INTO artifacts (uri, content_type, file_size_bytes)
  SELECT ${object.uri}, ${object.content_type}, ${object.file_size_bytes}::integer
  FROM (${heldSessionQuery(sql, round)}) AS held RETURNING id`
