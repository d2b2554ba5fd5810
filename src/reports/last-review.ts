import * as v from 'valibot'
import { parseJson } from '../base/json.ts'
import type { Mode, ReportType } from '../base/vocabulary.ts'
import type { Context } from '../context.ts'
import type { Db } from '../data/db/sql.ts'
import { type PlanDocument, PlanDocumentSchema } from '../plan/document/plan-document.ts'
import type { ClaimedRound } from '../rounds/round.ts'
import { type RoundResult, readRoundResult } from '../rounds/round-result.ts'
import { complianceFindings, type ReportDocuments, reportSchemas } from './schemas.ts'

/** What the last round of a session with a plan has left. */
export interface LastReview {
  round: number
  mode: Mode
  result: RoundResult | null
  /** Later applies of this session that gave the plan to the engine, oldest first, with the keys of their reports. */
  applies: { round: number; uri: string | null }[]
  /** Keys of the stored documents; null where there is none. */
  plan: string
  report: { type: ReportType; uri: string } | null
  check: { passed: boolean; uri: string } | null
}

type Report = { [Type in ReportType]: { type: Type; document: ReportDocuments[Type] } }[ReportType]

/** Its documents, as they were masked then; null for what does not exist or cannot be read. */
export interface ReviewDocuments {
  plan: PlanDocument | null
  report: Report | null
  findings: v.InferOutput<typeof complianceFindings>['violations'] | null
  applies: { round: number; report: ReportDocuments['apply'] | null }[]
}

/** Finds the last completed round of a session before this one that stored a plan as data; null when none did. */
export async function findLastReview(
  sql: Db,
  { number, session }: Pick<ClaimedRound, 'number' | 'session'>,
): Promise<LastReview | null> {
  if (number === 1) return null
  const [row] = await sql<(Omit<LastReview, 'result' | 'applies'> & { result: unknown })[]>`
    SELECT r.number AS round, r.mode, r.result, d.uri AS plan,
      (SELECT jsonb_build_object('type', t.type, 'uri', a.uri) FROM reports t JOIN artifacts a ON a.id = t.artifact_id
       WHERE t.round_id = r.id ORDER BY t.id DESC LIMIT 1) AS report,
      (SELECT jsonb_build_object('passed', t.passed, 'uri', a.uri) FROM compliance_checks t
       JOIN artifacts a ON a.id = t.artifact_id WHERE t.round_id = r.id ORDER BY t.id DESC LIMIT 1) AS check
    FROM rounds r JOIN engine_plans p ON p.round_id = r.id JOIN artifacts d ON d.id = p.document_artifact_id
    WHERE r.session_id = ${session.id} AND r.number < ${number} AND NOT r.preview
      AND EXISTS (SELECT 1 FROM statuses s WHERE s.round_id = r.id AND s.status = 'completed')
    ORDER BY r.number DESC, p.id DESC LIMIT 1`
  if (!row) return null
  const applies = await sql<LastReview['applies']>`
    SELECT r.number AS round, (
      SELECT o.uri FROM reports t JOIN artifacts o ON o.id = t.artifact_id
      WHERE t.round_id = r.id AND t.type = 'apply' ORDER BY t.id DESC LIMIT 1) AS uri
    FROM rounds r JOIN applies a ON a.round_id = r.id
    WHERE r.session_id = ${session.id} AND r.number > ${row.round} AND r.number < ${number}
      AND a.intended_at IS NOT NULL ORDER BY r.number`
  return { ...row, result: readRoundResult(row.result), applies: [...applies] }
}

const REPORTS: { [Type in ReportType]: v.GenericSchema<unknown, ReportDocuments[Type]> } = reportSchemas

/** Reads its documents. What cannot be read is logged. Errors: the reason of the signal. */
export async function readReviewDocuments(
  { storage, log }: Pick<Context, 'storage' | 'log'>,
  { plan, report, check, applies }: LastReview,
  signal: AbortSignal,
): Promise<ReviewDocuments> {
  const read = async <Document>(key: string, parse: (stored: unknown) => Document): Promise<Document | null> => {
    try {
      return parse(parseJson(new TextDecoder().decode(await storage.get(key, { signal }))))
    } catch (error) {
      signal.throwIfAborted()
      log.warn('a document of an earlier round could not be read', { key, error })
      return null
    }
  }
  const [planned, told, found, ...applied] = await Promise.all([
    read(plan, (stored) => PlanDocumentSchema.parse(stored)),
    report &&
      read(report.uri, (stored) => ({ type: report.type, document: v.parse(REPORTS[report.type], stored) }) as Report),
    check && read(check.uri, (stored) => v.parse(complianceFindings, stored).violations),
    ...applies.map(async ({ round, uri }) => ({
      round,
      report: uri === null ? null : await read(uri, (stored) => v.parse(reportSchemas.apply, stored)),
    })),
  ])
  return { plan: planned, report: told, findings: found, applies: applied }
}
