import { toHex } from '../base/bytes.ts'
import type { ReportType } from '../base/vocabulary.ts'
import type { Context } from '../context.ts'
import type { Query, Sql } from '../data/db/sql.ts'
import { storable } from '../data/db/values.ts'
import type { ScopeInventory } from '../plan/imports/inventory.ts'
import { assertHeld, type ClaimedRound, heldSessionQuery } from '../rounds/round.ts'
import type { ComplianceReport, ReportDocuments } from './schemas.ts'

/** Dependencies of the store functions, one for each kind. Errors: those of the object store, `LeaseLost`. */
type Store = Pick<Context, 'storage' | 'sql' | 'log'>

const JSON_TYPE = 'application/json'
const TEXT_TYPE = 'text/plain'

/** A stored artifact, such as the text of a plan. */
export interface StoredPlan {
  /** Database key of its row, for example in `engine_plans`. */
  id: number
  /** Key of the object. */
  uri: string
}

/** An object to store, and the row that refers to it. */
interface Artifact<Columns> {
  /** Name within the folder of the round; a new token in it for each write, so that nothing is overwritten. */
  name: string
  body: string
  content_type: string
  metadata?: Record<string, string>
  insert: Insert<Columns>
  columns: Columns
}

/** Creates the function that stores one kind of artifact. */
const storing =
  <Value, Columns>(describe: (value: Value) => Artifact<Columns>) =>
  (context: Store, round: ClaimedRound, value: Value, signal?: AbortSignal): Promise<StoredPlan> =>
    storeArtifact(context, round, describe(value), signal)

const planArtifact = (type: 'plan' | 'drift', body: string, targets: string[]) => ({
  name: `plans/${token()}.txt`,
  body,
  content_type: TEXT_TYPE,
  metadata: { type },
  insert: insertPlan,
  columns: { targets },
})

/** Stores the text of a plan, also of a failed one, as the engine printed it. */
export const storePlanText = storing(({ text, targets }: { text: string; targets: string[] }) =>
  planArtifact('plan', text, targets),
)

/** Stores a plan's document (JSON text) beside its text; storing it again keeps its URL. */
export async function storePlanDocument(
  context: Store,
  round: ClaimedRound,
  plan: StoredPlan,
  document: string,
  signal?: AbortSignal,
): Promise<void> {
  const uri = plan.uri.replace(/\.txt$/, '.json')
  const options = { content_type: JSON_TYPE, metadata: { type: 'plan' }, signal }
  const size = await context.storage.put(uri, document, options)
  // The object stays when its row cannot be written, because an earlier write may own it.
  await setPlanDocument(context.sql, round, plan.id, { uri, content_type: JSON_TYPE, file_size_bytes: size })
}

/** Stores a plan's drift: its inverted operations as JSON text. */
export const storeDrift = storing(({ operations, targets }: { operations: unknown; targets: string[] }) =>
  planArtifact('drift', toJson(operations), targets),
)

type Report = { [Type in ReportType]: { type: Type; document: ReportDocuments[Type] } }[ReportType]

export const storeReport = storing(({ type, document }: Report) => ({
  ...jsonBody(`reports/${type}-${token()}.json`, document),
  insert: insertReport,
  columns: { type },
}))

/** Stores the findings of a compliance check as JSON. */
export const storeComplianceCheck = storing((document: ComplianceReport) => ({
  ...jsonBody(`compliance/check-${token()}.json`, document),
  insert: insertComplianceCheck,
  columns: { passed: document.passed },
}))

/** Stores the change of one file in a round: the whole text of a `new_file`, else a diff with all of it as context. */
export const storeCodeChange = storing((change: { path: string; new_file: boolean; content: string }) => ({
  name: `changes/${token()}-${safeName(change.path)}`,
  body: change.content,
  content_type: TEXT_TYPE,
  metadata: { new_file: String(change.new_file) },
  insert: insertCodeChange,
  columns: { file_name: change.path },
}))

/** Stores the listing of an import preview as JSON; a later import may choose its unmanaged identifiers. */
export const storePreview = storing((document: ScopeInventory) => ({
  ...jsonBody(`previews/import-${token()}.json`, document),
  insert: insertPreview,
  columns: { counts: document.counts, resource_ids: document.unmanaged.map(({ resource_id }) => resource_id) },
}))

/** Stores an engine job's masked output; `exit_code` is null for a job without a result. */
export const storeEngineOutput = storing(
  ({ text, ...columns }: { step: string; exit_code: number | null; text: string }) => ({
    name: `outputs/${columns.step}-${token()}.txt`,
    body: text,
    content_type: TEXT_TYPE,
    insert: insertEngineOutput,
    columns,
  }),
)

const toJson = (value: unknown) => JSON.stringify(value, null, 2)
const jsonBody = (name: string, document: unknown) => ({ name, body: toJson(document), content_type: JSON_TYPE })

/** Uploads the object before inserting its rows, so that no row lacks its object; tries to delete it on failure. */
async function storeArtifact<Columns>(
  { storage, sql, log }: Store,
  round: ClaimedRound,
  { name, body, content_type, metadata, insert, columns }: Artifact<Columns>,
  signal?: AbortSignal,
): Promise<StoredPlan> {
  const uri = `sessions/${round.session.uuid}/rounds/${round.id}/${name}`
  const size = await storage.put(uri, body, { content_type, metadata, signal })
  try {
    return { id: await insert(sql, round, { uri, content_type, file_size_bytes: size, ...columns }), uri }
  } catch (error) {
    await storage
      .delete(uri)
      .catch((reason: unknown) =>
        log.warn('an uploaded object without a row could not be deleted', { key: uri, reason }),
      )
    throw error
  }
}

/** Returns 8 random hex characters. */
const token = () => toHex(crypto.getRandomValues(new Uint8Array(4)))

/** Returns a path as an object key segment of 1 to 100 characters; `_` replaces runs of invalid characters. */
export const safeName = (path: string) => path.replaceAll(/[^A-Za-z0-9._-]+/g, '_').slice(0, 100) || 'file'

/** A stored object; `uri` is its key in the artifacts bucket. */
interface StoredObject {
  uri: string
  content_type: string
  file_size_bytes: number
}

/** Errors: `LeaseLost` when another worker has claimed the session. */
type Insert<Columns> = (sql: Sql, round: ClaimedRound, row: StoredObject & Columns) => Promise<number>

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
const fileName = (path: string) => [...storable(path)].slice(0, 254).join('')

export const insertCodeChange = insertInto<{ file_name: string }>('code_changes', (sql, { file_name }) => [
  sql`file_name`,
  sql`${fileName(file_name)}::varchar`,
])

/** Removes the changes of files from a round, except some rows, so that each file has one. Their objects stay. */
export async function dropCodeChanges(
  sql: Sql,
  round: ClaimedRound,
  { paths, except }: { paths: readonly string[]; except: readonly number[] },
): Promise<void> {
  await sql`
    WITH held AS (${heldSessionQuery(sql, round)}), dropped AS (
      DELETE FROM code_changes USING held
      WHERE round_id = ${round.id} AND file_name = ANY(${paths.map(fileName)}::text[])
        AND NOT code_changes.id = ANY(${[...except]}::integer[])
      RETURNING artifact_id
    )
    DELETE FROM artifacts WHERE id IN (SELECT artifact_id FROM dropped)`
}

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
