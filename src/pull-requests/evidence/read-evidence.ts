import * as v from 'valibot'
import { maskedSecretsOf } from '../../../config/mask.ts'
import { parseJson } from '../../base/json.ts'
import { createMasker, type Masker } from '../../base/masking.ts'
import { isUuid } from '../../base/text.ts'
import { waitUnlessAborted } from '../../base/time.ts'
import type { ReportType } from '../../base/vocabulary.ts'
import type { Context } from '../../context.ts'
import type { Sql, Transaction } from '../../data/db/sql.ts'
import { complianceFindings, type ReportDocuments, reportSchemas } from '../../reports/schemas.ts'
import { readRoundResult } from '../../rounds/round-result.ts'
import { maskRounds } from '../shown-rounds.ts'
import type { Evidence, EvidenceRows, RoundRow, StoredDocument, StoredRow } from './evidence.ts'

type EvidenceContext = Pick<Context, 'storage' | 'log' | 'config'>

/** Limit for all artifacts together, so that a slow object store delays no pull request. */
const LIMIT_MS = 5_000
const MAX_BYTES = 2 * 1024 * 1024

/** Reads artifacts in parallel; missing, large, slow or malformed ones are logged. Throws the signal's reason. */
export async function readEvidence(
  context: EvidenceContext,
  rows: EvidenceRows,
  signal: AbortSignal,
): Promise<Evidence> {
  const masker = createMasker(maskedSecretsOf(context.config))
  const reader = createReader(context, masker, signal)
  const report = <Type extends ReportType>(type: Type) => readReport(reader, rows, type)
  const [generate, drift, importReport, apply, compliance, plan] = await Promise.all([
    report('generate'),
    report('drift'),
    report('import'),
    report('apply'),
    readCheck(reader, rows.check),
    readPlan(reader, rows.plans),
  ])
  signal.throwIfAborted()
  const rounds = maskRounds(context.config, rows)
  return { session: rows.session, rounds, generate, drift, import: importReport, apply, compliance, plan }
}

type Reader = ReturnType<typeof createReader>

const SCHEMAS: { [Type in ReportType]: v.GenericSchema<unknown, ReportDocuments[Type]> } = reportSchemas

async function readReport<Type extends ReportType>(
  reader: Reader,
  { reports }: EvidenceRows,
  type: Type,
): Promise<StoredDocument<ReportDocuments[Type]> | null> {
  const row = reports.find((candidate) => candidate.type === type)
  if (!row) return null
  return { round: row.round, created_at: row.created_at, document: await reader.document(row, SCHEMAS[type]) }
}

async function readCheck(reader: Reader, row: EvidenceRows['check']): Promise<Evidence['compliance']> {
  if (!row) return null
  const { round, created_at, passed } = row
  const findings = await reader.document(row, complianceFindings)
  return { round, created_at, passed, document: findings && { passed, ...findings } }
}

/** Finds the reviewed plan among the stored documents; drift documents are JSON lists, plan texts never. */
async function readPlan(reader: Reader, rows: EvidenceRows['plans']): Promise<Evidence['plan']> {
  const [latest] = rows
  if (!latest) return null
  const texts = await Promise.all(rows.map(async (row) => ({ row, text: await reader.text(row) })))
  const plan = texts.find(({ text }) => text === null || !text.startsWith('['))
  const { targets, created_at } = plan?.row ?? latest
  return { targets, created_at, text: plan?.text ?? null }
}

function createReader({ storage, log }: EvidenceContext, masker: Masker, signal: AbortSignal) {
  const limit = AbortSignal.any([signal, AbortSignal.timeout(LIMIT_MS)])
  const text = async ({ uri, file_size_bytes }: StoredRow): Promise<string | null> => {
    try {
      limit.throwIfAborted()
      if ((file_size_bytes ?? 0) > MAX_BYTES) throw new Error(`larger than ${MAX_BYTES} bytes`)
      const body = await waitUnlessAborted(storage.get(uri, { signal: limit, maxBytes: MAX_BYTES }), limit)
      return masker.text(new TextDecoder().decode(body))
    } catch (error) {
      if (!signal.aborted) log.warn('an artifact could not be read for a pull request', { key: uri, error })
      return null
    }
  }
  return {
    /** Returns the masked text of an artifact; null when unreadable. */
    text,
    /** Returns an artifact's JSON document; null when unreadable or invalid. */
    document: async <Document>(
      row: StoredRow,
      schema: v.GenericSchema<unknown, Document>,
    ): Promise<Document | null> => {
      const read = await text(row)
      if (read === null) return null
      const parsed = v.safeParse(schema, parseJson(read))
      if (!parsed.success) log.warn('an artifact has another form than expected', { key: row.uri })
      return parsed.success ? parsed.output : null
    },
  }
}

/** Stored plans of a round that are read; the reviewed one precedes the drift read after it. */
const LATEST_PLANS = 4

/** Reads all evidence rows from one database snapshot, without previews; null for an unknown session. */
export async function readEvidenceRows(sql: Sql, uuid: string): Promise<EvidenceRows | null> {
  if (!isUuid(uuid)) return null
  return await sql.begin('ISOLATION LEVEL REPEATABLE READ READ ONLY', async (tx) => {
    const head = await readHead(tx, uuid)
    if (!head) return null
    const { id, ...session } = head
    const [rounds, reports, [check = null], plans] = await Promise.all([
      readRounds(tx, id),
      readReports(tx, id),
      readLatestCheck(tx, id),
      readPlans(tx, id),
    ])
    return { session, rounds, reports, check, plans }
  })
}

async function readHead(tx: Transaction, uuid: string) {
  const [head = null] = await tx<(EvidenceRows['session'] & { id: number })[]>`
    SELECT s.id, s.uuid, s.user_id, s.operation, h.first_query, h.payload AS history, w.uri, w.branch,
           s.is_blocked, s.in_flight, s.last_commit
    FROM sessions s
    JOIN workspaces w ON w.session_id = s.id
    JOIN histories h ON h.session_id = s.id
    WHERE s.uuid = ${uuid}`
  return head
}

async function readRounds(tx: Transaction, session_id: number): Promise<RoundRow[]> {
  const rows = await tx<(Omit<RoundRow, 'result'> & { result: unknown })[]>`
    SELECT r.number, r.mode, r.query, r.result, coalesce(last.status, 'started') AS status
    FROM rounds r LEFT JOIN LATERAL (
      SELECT status FROM statuses WHERE round_id = r.id ORDER BY id DESC LIMIT 1) last ON true
    WHERE r.session_id = ${session_id} AND NOT r.preview ORDER BY r.number`
  return rows.map(({ result, ...round }) => ({ ...round, result: readRoundResult(result) }))
}

const readReports = (tx: Transaction, session_id: number) => tx<EvidenceRows['reports']>`
  SELECT DISTINCT ON (t.type) t.type, r.number AS round, a.uri, a.file_size_bytes, t.created_at
  FROM reports t JOIN artifacts a ON a.id = t.artifact_id JOIN rounds r ON r.id = t.round_id
  WHERE r.session_id = ${session_id} AND NOT r.preview ORDER BY t.type, t.id DESC`

const readLatestCheck = (tx: Transaction, sessionId: number) => tx<NonNullable<EvidenceRows['check']>[]>`
  SELECT t.passed, r.number AS round, a.uri, a.file_size_bytes, t.created_at
  FROM compliance_checks t JOIN artifacts a ON a.id = t.artifact_id JOIN rounds r ON r.id = t.round_id
  WHERE r.session_id = ${sessionId} ORDER BY t.id DESC LIMIT 1`

const readPlans = (tx: Transaction, session_id: number) => tx<EvidenceRows['plans']>`
  SELECT t.targets, r.number AS round, a.uri, a.file_size_bytes, t.created_at
  FROM engine_plans t JOIN artifacts a ON a.id = t.artifact_id JOIN rounds r ON r.id = t.round_id
  WHERE r.id = (
    SELECT t.round_id FROM reports t JOIN rounds r ON r.id = t.round_id
    WHERE r.session_id = ${session_id} AND t.type = 'generate' ORDER BY t.id DESC LIMIT 1)
  ORDER BY t.id DESC LIMIT ${LATEST_PLANS}`
