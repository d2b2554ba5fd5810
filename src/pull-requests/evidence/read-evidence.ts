import * as v from 'valibot'
import type { Masker } from '../../base/masking.ts'
import { waitUnlessAborted } from '../../base/time.ts'
import type { ReportType } from '../../base/vocabulary.ts'
import type { Context } from '../../context.ts'
import { complianceFindings, type ReportDocuments, reportSchemas } from '../../reports/schemas.ts'
import { createConfiguredMasker, maskRounds } from '../shown-rounds.ts'
import type { Evidence, EvidenceRows, StoredDocument, StoredRow } from './evidence.ts'

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
  const masker = createConfiguredMasker(context.config)
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

interface Reader {
  /** Returns the masked text of an artifact; null when unreadable. */
  text(row: StoredRow): Promise<string | null>
  /** Returns an artifact's JSON document; null when unreadable or invalid. */
  document<Document>(row: StoredRow, schema: v.GenericSchema<unknown, Document>): Promise<Document | null>
}

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

function createReader({ storage, log }: EvidenceContext, masker: Masker, signal: AbortSignal): Reader {
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
    text,
    document: async (row, schema) => {
      const read = await text(row)
      if (read === null) return null
      const parsed = v.safeParse(v.pipe(v.string(), v.parseJson(), schema), read)
      if (!parsed.success) log.warn('an artifact has another form than expected', { key: row.uri })
      return parsed.success ? parsed.output : null
    },
  }
}
