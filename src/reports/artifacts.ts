import { toHex } from '../base/bytes.ts'
import type { ReportType } from '../base/vocabulary.ts'
import type { Context } from '../context.ts'
import type { ScopeInventory } from '../plan/imports/inventory.ts'
import type { ClaimedRound } from '../rounds/round.ts'
import {
  insertCodeChange,
  insertComplianceCheck,
  insertEngineOutput,
  insertPlan,
  insertPreview,
  insertReport,
  type StoredObject,
  setPlanDocument,
} from './artifact-rows.ts'
import type { ComplianceReport, ReportDocuments } from './schemas.ts'

/** Dependencies of the store functions, one for each kind. Errors: those of the object store, `LeaseLost`. */
type Store = Pick<Context, 'storage' | 'sql' | 'log'>

const JSON_TYPE = 'application/json'
const TEXT_TYPE = 'text/plain'

export interface StoredPlan {
  /** Database key in `engine_plans`. */
  id: number
  /** Key of the object with its text. */
  uri: string
}

/** Stores the text of a plan, also of a failed one, as the engine printed it. */
export const storePlanText = (
  context: Store,
  round: ClaimedRound,
  plan: { text: string; targets: string[] },
  signal?: AbortSignal,
): Promise<StoredPlan> => storePlanKind(context, round, 'plan', plan.text, plan.targets, signal)

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
export async function storeDrift(
  context: Store,
  round: ClaimedRound,
  drift: { operations: unknown; targets: string[] },
  signal?: AbortSignal,
): Promise<void> {
  await storePlanKind(context, round, 'drift', toJson(drift.operations), drift.targets, signal)
}

async function storePlanKind(
  context: Store,
  round: ClaimedRound,
  type: 'plan' | 'drift',
  body: string,
  targets: string[],
  signal?: AbortSignal,
): Promise<StoredPlan> {
  const object = { key: keyOf(round, `plans/${token()}.txt`), body, content_type: TEXT_TYPE, metadata: { type } }
  const insert = (stored: StoredObject) => insertPlan(context.sql, round, { ...stored, targets })
  return { id: await storeArtifact(context, object, insert, signal), uri: object.key }
}

export async function storeReport<Type extends ReportType>(
  context: Store,
  round: ClaimedRound,
  { type, document }: { type: Type; document: ReportDocuments[Type] },
  signal?: AbortSignal,
): Promise<void> {
  const object = jsonObject(round, `reports/${type}-${token()}.json`, document)
  await storeArtifact(context, object, (stored) => insertReport(context.sql, round, { ...stored, type }), signal)
}

/** Stores the findings of a compliance check as JSON. */
export async function storeComplianceCheck(
  context: Store,
  round: ClaimedRound,
  document: ComplianceReport,
  signal?: AbortSignal,
): Promise<void> {
  const object = jsonObject(round, `compliance/check-${token()}.json`, document)
  const { passed } = document
  const insert = (stored: StoredObject) => insertComplianceCheck(context.sql, round, { ...stored, passed })
  await storeArtifact(context, object, insert, signal)
}

/** Stores the change of one file: the whole text of a `new_file`, else a diff with the whole file as context. */
export async function storeCodeChange(
  context: Store,
  round: ClaimedRound,
  change: { path: string; new_file: boolean; content: string },
  signal?: AbortSignal,
): Promise<void> {
  const object = {
    key: keyOf(round, `changes/${token()}-${safeName(change.path)}`),
    body: change.content,
    content_type: TEXT_TYPE,
    metadata: { new_file: String(change.new_file) },
  }
  const insert = (stored: StoredObject) => insertCodeChange(context.sql, round, { ...stored, file_name: change.path })
  await storeArtifact(context, object, insert, signal)
}

/** Stores the listing of an import preview as JSON; a later import may choose its unmanaged identifiers. */
export async function storePreview(
  context: Store,
  round: ClaimedRound,
  document: ScopeInventory,
  signal?: AbortSignal,
): Promise<void> {
  const object = jsonObject(round, `previews/import-${token()}.json`, document)
  const { counts, unmanaged } = document
  const resource_ids = unmanaged.map(({ resource_id }) => resource_id)
  const insert = (stored: StoredObject) => insertPreview(context.sql, round, { ...stored, counts, resource_ids })
  await storeArtifact(context, object, insert, signal)
}

/** Stores an engine job's masked output; `exit_code` is null for a job without a result. */
export async function storeEngineOutput(
  context: Store,
  round: ClaimedRound,
  { text, ...job }: { step: string; exit_code: number | null; text: string },
  signal?: AbortSignal,
): Promise<void> {
  const key = keyOf(round, `outputs/${job.step}-${token()}.txt`)
  const insert = (stored: StoredObject) => insertEngineOutput(context.sql, round, { ...stored, ...job })
  await storeArtifact(context, { key, body: text, content_type: TEXT_TYPE }, insert, signal)
}

const toJson = (value: unknown) => JSON.stringify(value, null, 2)

interface ArtifactObject {
  key: string
  body: string
  content_type: string
  metadata?: Record<string, string>
}

const jsonObject = (round: ClaimedRound, name: string, document: unknown): ArtifactObject => ({
  key: keyOf(round, name),
  body: toJson(document),
  content_type: JSON_TYPE,
})

/** Uploads the object before inserting its rows, so that no row lacks its object; tries to delete it on failure. */
async function storeArtifact<Row>(
  context: Pick<Context, 'storage' | 'log'>,
  object: ArtifactObject,
  insert: (stored: StoredObject) => Promise<Row>,
  signal?: AbortSignal,
): Promise<Row> {
  const { key, body, content_type, metadata } = object
  const size = await context.storage.put(key, body, { content_type, metadata, signal })
  try {
    return await insert({ uri: key, content_type, file_size_bytes: size })
  } catch (error) {
    await context.storage
      .delete(key)
      .catch((reason: unknown) =>
        context.log.warn('an uploaded object without a row could not be deleted', { key, reason }),
      )
    throw error
  }
}

/** Returns an object key with a new token for each write, so that nothing is overwritten. */
const keyOf = (round: ClaimedRound, name: string): string => `sessions/${round.session.uuid}/rounds/${round.id}/${name}`

/** Returns 8 random hex characters. */
const token = () => toHex(crypto.getRandomValues(new Uint8Array(4)))

/** Returns a path as an object key segment of 1 to 100 characters; `_` replaces runs of invalid characters. */
export const safeName = (path: string) => path.replaceAll(/[^A-Za-z0-9._-]+/g, '_').slice(0, 100) || 'file'
