import type { Context } from '../context.ts'
import { type ClaimedRound, assertHeld, heldSessionQuery } from '../rounds/round.ts'
import { outputKey, storeArtifact, TEXT_TYPE } from './artifacts.ts'
import type { ReportType } from '../base/vocabulary.ts'
import type { Sql } from '../data/db/types.ts'
import { storable } from '../data/db/values.ts'

/** A stored object; `uri` is its key in the artifacts bucket. */
export interface StoredObject {
  uri: string
  content_type: string
  file_size_bytes: number
}

/**
 * Each function inserts the row of a stored object and the row that refers to it, or neither of them. This one answers
 * the id of the plan.
 * Errors: `LeaseLost` when another worker has the session by now.
 */
export async function insertPlan(
  sql: Sql,
  round: ClaimedRound,
  plan: StoredObject & { targets: readonly string[] },
): Promise<number> {
  const targets = plan.targets.map((target) => storable(target))
  const rows = await sql<{ id: number }[]>`
    WITH artifact AS (${insertedArtifact(sql, round, plan)})
    INSERT INTO engine_plans (round_id, artifact_id, targets)
    SELECT ${round.id}, id, ${targets}::text[] FROM artifact RETURNING id`
  assertHeld(rows)
  return rows[0]?.id ?? 0
}

/**
 * Makes an object the document of a plan. A plan has one: when the object is the document already, and was written
 * again, its size is updated.
 */
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

export async function insertReport(
  sql: Sql,
  round: ClaimedRound,
  report: StoredObject & { type: ReportType },
): Promise<void> {
  assertHeld(
    await sql`
      WITH artifact AS (${insertedArtifact(sql, round, report)})
      INSERT INTO reports (round_id, artifact_id, type)
      SELECT ${round.id}, id, ${report.type} FROM artifact RETURNING id`,
  )
}

export async function insertComplianceCheck(
  sql: Sql,
  round: ClaimedRound,
  check: StoredObject & { passed: boolean },
): Promise<void> {
  assertHeld(
    await sql`
      WITH artifact AS (${insertedArtifact(sql, round, check)})
      INSERT INTO compliance_checks (round_id, artifact_id, passed)
      SELECT ${round.id}, id, ${check.passed} FROM artifact RETURNING id`,
  )
}

/** A file name longer than its column of 254 characters is cut. */
export async function insertCodeChange(
  sql: Sql,
  round: ClaimedRound,
  change: StoredObject & { file_name: string },
): Promise<void> {
  const fileName = [...storable(change.file_name)].slice(0, 254).join('')
  assertHeld(
    await sql`
      WITH artifact AS (${insertedArtifact(sql, round, change)})
      INSERT INTO code_changes (round_id, artifact_id, file_name)
      SELECT ${round.id}, id, ${fileName} FROM artifact RETURNING id`,
  )
}

/** @param preview.resource_ids what a later import may choose from the preview */
export async function insertPreview(
  sql: Sql,
  round: ClaimedRound,
  preview: StoredObject & { counts: Record<string, number>; resource_ids: readonly string[] },
): Promise<void> {
  assertHeld(
    await sql`
      WITH artifact AS (${insertedArtifact(sql, round, preview)})
      INSERT INTO previews (round_id, artifact_id, counts, resource_ids)
      SELECT ${round.id}, id, ${JSON.stringify(preview.counts)}::jsonb, ${[...preview.resource_ids]}::text[]
      FROM artifact RETURNING id`,
  )
}

/** Query that inserts the row of a stored object and answers its id; no row when the session is not held any more. */
export const insertedArtifact = (sql: Sql, round: ClaimedRound, object: StoredObject) => sql`
  INSERT INTO artifacts (uri, content_type, file_size_bytes)
  SELECT ${object.uri}, ${object.content_type}, ${object.file_size_bytes}::integer
  FROM (${heldSessionQuery(sql, round)}) AS held RETURNING id`

/**
 * Stores what an engine job has written, as an artifact of the round. `text` is masked. `exit_code` is null for a job
 * without a result.
 * Errors: `PlatformError` of the object store, `LeaseLost`.
 */
export async function storeEngineOutput(
  context: Pick<Context, 'storage' | 'sql' | 'log'>,
  round: ClaimedRound,
  output: { step: string; exit_code: number | null; text: string },
  signal?: AbortSignal,
): Promise<void> {
  const { sql } = context
  const object = { key: outputKey(round, output.step), body: output.text, content_type: TEXT_TYPE }
  await storeArtifact(
    context,
    object,
    async (fileSizeBytes) => {
      const stored = { uri: object.key, content_type: TEXT_TYPE, file_size_bytes: fileSizeBytes }
      assertHeld(
        await sql`
          WITH artifact AS (${insertedArtifact(sql, round, stored)})
          INSERT INTO engine_outputs (round_id, artifact_id, step, exit_code)
          SELECT ${round.id}, id, ${output.step}, ${output.exit_code}::integer FROM artifact RETURNING id`,
      )
    },
    signal,
  )
}
