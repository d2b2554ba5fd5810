import { toHex } from '../base/bytes.ts'
import type { ReportType } from '../base/vocabulary.ts'
import type { Context } from '../context.ts'
import type { ScopeInventory } from '../plan/imports/inventory.ts'
import type { ClaimedRound } from '../rounds/round.ts'
import {
  insertCodeChange,
  insertComplianceCheck,
  insertPlan,
  insertPreview,
  insertReport,
  setPlanDocument,
} from './artifact-rows.ts'
import type { ComplianceReport, ReportDocuments } from './schemas.ts'

/**
 * What storing an artifact needs. There is one function for each kind of artifact (contract, section 5.3); each uploads
 * an object and inserts its rows. Errors: `PlatformError` of the object store, `LeaseLost` when the round belongs to
 * another worker by now.
 */
type Store = Pick<Context, 'storage' | 'sql' | 'log'>

const JSON_TYPE = 'application/json'
export const TEXT_TYPE = 'text/plain'

/** A plan whose text is stored. */
export interface StoredPlan {
  /** Database key in `engine_plans`. */
  id: number
  /** Key of the object with its text. */
  uri: string
}

/** Stores the text of a plan as the engine printed it, also that of a plan that failed. */
export async function storePlanText(
  context: Store,
  round: ClaimedRound,
  plan: { text: string; targets: string[] },
  signal?: AbortSignal,
): Promise<StoredPlan> {
  return await storePlanKind(context, round, 'plan', plan.text, plan.targets, signal)
}

/**
 * Stores the document of a plan as JSON beside its text, under the same name. A document that is stored again takes the
 * place of the earlier one, so that its URL stays the same.
 * @param document JSON text
 */
export async function storePlanDocument(
  context: Store,
  round: ClaimedRound,
  plan: StoredPlan,
  document: string,
  signal?: AbortSignal,
): Promise<void> {
  const key = plan.uri.replace(/\.txt$/, '.json')
  const size = await context.storage.put(key, document, {
    content_type: JSON_TYPE,
    metadata: { type: 'plan' },
    signal,
  })
  // The object stays when its row cannot be written: it may be the one of an earlier writing.
  await setPlanDocument(context.sql, round, plan.id, { uri: key, content_type: JSON_TYPE, file_size_bytes: size })
}

/** Stores the drift of a plan: its inverted operations as JSON text. */
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
  const object = { key: planKey(round), body, content_type: TEXT_TYPE, metadata: { type } }
  const id = await storeArtifact(
    context,
    object,
    (fileSizeBytes) =>
      insertPlan(context.sql, round, {
        uri: object.key,
        content_type: TEXT_TYPE,
        file_size_bytes: fileSizeBytes,
        targets,
      }),
    signal,
  )
  return { id, uri: object.key }
}

/** Stores the settled report of a round as JSON. */
export async function storeReport<Type extends ReportType>(
  context: Store,
  round: ClaimedRound,
  report: { type: Type; document: ReportDocuments[Type] },
  signal?: AbortSignal,
): Promise<void> {
  const object = { key: reportKey(round, report.type), body: toJson(report.document), content_type: JSON_TYPE }
  await storeArtifact(
    context,
    object,
    (fileSizeBytes) =>
      insertReport(context.sql, round, {
        uri: object.key,
        content_type: JSON_TYPE,
        file_size_bytes: fileSizeBytes,
        type: report.type,
      }),
    signal,
  )
}

/** Stores the findings of a compliance check as JSON. */
export async function storeComplianceCheck(
  context: Store,
  round: ClaimedRound,
  document: ComplianceReport,
  signal?: AbortSignal,
): Promise<void> {
  const object = { key: complianceKey(round), body: toJson(document), content_type: JSON_TYPE }
  await storeArtifact(
    context,
    object,
    (fileSizeBytes) =>
      insertComplianceCheck(context.sql, round, {
        uri: object.key,
        content_type: JSON_TYPE,
        file_size_bytes: fileSizeBytes,
        passed: document.passed,
      }),
    signal,
  )
}

/**
 * Stores the change of one file.
 * @param change `content` is the whole file when `new_file` is set, else a diff with the whole file as context
 */
export async function storeCodeChange(
  context: Store,
  round: ClaimedRound,
  change: { path: string; new_file: boolean; content: string },
  signal?: AbortSignal,
): Promise<void> {
  const object = {
    key: codeChangeKey(round, change.path),
    body: change.content,
    content_type: TEXT_TYPE,
    metadata: { new_file: String(change.new_file) },
  }
  await storeArtifact(
    context,
    object,
    (fileSizeBytes) =>
      insertCodeChange(context.sql, round, {
        uri: object.key,
        content_type: TEXT_TYPE,
        file_size_bytes: fileSizeBytes,
        file_name: change.path,
      }),
    signal,
  )
}

/** Stores as JSON what an import preview lists. Its unmanaged identifiers are what a later import may choose from. */
export async function storePreview(
  context: Store,
  round: ClaimedRound,
  document: ScopeInventory,
  signal?: AbortSignal,
): Promise<void> {
  const object = { key: previewKey(round), body: toJson(document), content_type: JSON_TYPE }
  await storeArtifact(
    context,
    object,
    (fileSizeBytes) =>
      insertPreview(context.sql, round, {
        uri: object.key,
        content_type: JSON_TYPE,
        file_size_bytes: fileSizeBytes,
        counts: document.counts,
        resource_ids: document.unmanaged.map(({ resource_id }) => resource_id),
      }),
    signal,
  )
}

const toJson = (value: unknown) => JSON.stringify(value, null, 2)

export interface ArtifactObject {
  key: string
  body: string
  content_type: string
  metadata?: Record<string, string>
}

/**
 * Uploads the object first and inserts its rows second, so that no row refers to a missing object. When the insert
 * fails, it tries to delete the object, and throws the error of the insert.
 * @param insert inserts the rows; gets the size of the body in bytes
 */
export async function storeArtifact<Row>(
  context: Pick<Context, 'storage' | 'log'>,
  object: ArtifactObject,
  insert: (fileSizeBytes: number) => Promise<Row>,
  signal?: AbortSignal,
): Promise<Row> {
  const { key, body, content_type, metadata } = object
  const size = await context.storage.put(key, body, { content_type, metadata, signal })
  try {
    return await insert(size)
  } catch (error) {
    await context.storage
      .delete(key)
      .catch((reason: unknown) =>
        context.log.warn('an uploaded object without a row could not be deleted', { key, reason }),
      )
    throw error
  }
}

/**
 * The part of a round that its object keys are made of (contract, section 5.3). A key is
 * `sessions/<session uuid>/rounds/<round>/…` and has a new token for each write, so that nothing is overwritten.
 */
interface KeyOwner {
  /** Database key of the round. */
  id: number
  session: { uuid: string }
}

const prefix = (round: KeyOwner) => `sessions/${round.session.uuid}/rounds/${round.id}`

const reportKey = (round: KeyOwner, type: ReportType) => `${prefix(round)}/reports/${type}-${token()}.json`
const previewKey = (round: KeyOwner) => `${prefix(round)}/previews/import-${token()}.json`
export const complianceKey = (round: KeyOwner) => `${prefix(round)}/compliance/check-${token()}.json`
const planKey = (round: KeyOwner) => `${prefix(round)}/plans/${token()}.txt`
export const outputKey = (round: KeyOwner, step: string) => `${prefix(round)}/outputs/${step}-${token()}.txt`
const codeChangeKey = (round: KeyOwner, path: string) => `${prefix(round)}/changes/${token()}-${safeName(path)}`

/** 8 random hex characters. */
const token = () => toHex(crypto.getRandomValues(new Uint8Array(4)))

/**
 * A path as the last part of an object key: every run of other characters than letters, digits, `.`, `_` and `-`
 * becomes `_`. It has at most 100 characters and is never empty.
 */
export const safeName = (path: string) => path.replaceAll(/[^A-Za-z0-9._-]+/g, '_').slice(0, 100) || 'file'
