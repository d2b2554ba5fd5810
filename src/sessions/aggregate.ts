import { isUuid } from '../base/text.ts'
import { type ReportType, type Status, TERMINAL_STATUSES, type Turn } from '../base/vocabulary.ts'
import type { Spent } from '../budget/spend.ts'
import type { Context } from '../context.ts'
import type { Db, Query, Transaction } from '../data/db/sql.ts'
import { readAttempts, toAttempts } from '../rounds/attempts.ts'
import { factJoins, sessionAggregateKey } from '../rounds/round.ts'
import { readNewestPlan, type SavedPlanStatus } from '../saved-plans/plan-status.ts'
import { type SummaryRow, summaryColumns, toSummary } from './list.ts'
import type {
  ArtifactEntry,
  LockChange,
  PullRequest,
  RoundDetail,
  RoundUsage,
  SessionAggregate,
} from './session-detail.ts'

type AggregateContext = Pick<Context, 'sql' | 'cache' | 'storage'>

const DAY_S = 24 * 60 * 60

/** Returns one day plus up to 2.4 random hours, in seconds, so that entries do not expire together. */
export const sessionAggregateTtl = (random = Math.random()): number => Math.floor(DAY_S * (1 + 0.1 * random))

/**
 * Reads a session with its rounds and all their parts; null when there is no such session. The number of queries does
 * not grow with the number of rounds. The detail of a session whose last round has ended is cached; a request that
 * includes the history always reads the database. The status of the saved plan is always read, because it also changes
 * without a change of the session.
 */
export async function loadAggregate(
  context: AggregateContext,
  uuid: string,
  options: { includeHistory: boolean },
): Promise<SessionAggregate | null> {
  if (!isUuid(uuid)) return null
  if (options.includeHistory) return readAggregate(context, uuid, options)
  const key = sessionAggregateKey(uuid)
  const cached = parseEntry(await context.cache.get(key))
  if (cached && (await isCurrent(context, cached)))
    return { ...cached, saved_plan: await readPlanStatus(context.sql, uuid) }
  const aggregate = await readAggregate(context, uuid, options)
  const isFinished = TERMINAL_STATUSES.some((status) => status === aggregate?.current_status)
  if (aggregate && isFinished && !aggregate.in_flight) {
    const ttl = Math.floor(Math.min(sessionAggregateTtl(), await halfUrlLifetimeS(context)))
    if (ttl > 0) await context.cache.set(key, JSON.stringify(aggregate), ttl)
  }
  return aggregate
}

/**
 * Returns half of the remaining lifetime of an entry's presigned URLs, in seconds; infinite unless temporary
 * credentials shorten it. With 60 minutes left an entry is cached for 30, so that its last reader can still use the
 * URLs for another 30.
 */
async function halfUrlLifetimeS({ storage }: AggregateContext): Promise<number> {
  const lapse = await storage.urlsLapse()
  return lapse ? (lapse.getTime() - Date.now()) / 2000 : Number.POSITIVE_INFINITY
}

/**
 * True if a cached entry matches the database. Every change of a session also changes its `updated_at`. The comparison
 * is needed because a change is committed just before its entry is removed, and because the removal fails while the
 * cache cannot be reached.
 */
async function isCurrent(context: AggregateContext, cached: SessionAggregate): Promise<boolean> {
  const [row] = await context.sql<{ updated_at: string }[]>`SELECT updated_at FROM sessions WHERE uuid = ${cached.uuid}`
  return row?.updated_at === cached.updated_at
}

/** Parses a cached entry; null for none and for a text that is no session. */
function parseEntry(text: string | null): SessionAggregate | null {
  if (text === null) return null
  try {
    const entry: SessionAggregate = JSON.parse(text)
    // An entry of an earlier version lacks the lock, or what its rounds took.
    const isPresent = typeof entry?.uuid === 'string' && entry.lock !== undefined
    return isPresent && entry.rounds.every(({ spent }) => spent !== undefined) ? entry : null
  } catch {
    return null
  }
}

type Head = SummaryRow & { id: number; scope_id: string; payload: Turn[] }
type StoredRound = Pick<RoundDetail, 'id' | 'number' | 'query' | 'preview' | 'state_question' | 'created_at'> &
  Spent & { usage: Partial<RoundUsage> | null }
type RoundRow = { round_id: number }
type ArtifactRow = RoundRow & Omit<ArtifactEntry, 'url'> & { uri: string }

/** Reads the whole session from one snapshot of the database: ten queries, regardless of the number of rounds. */
async function readAggregate(
  context: Pick<Context, 'sql' | 'storage'>,
  uuid: string,
  options: { includeHistory: boolean },
): Promise<SessionAggregate | null> {
  const rows = await context.sql.begin('ISOLATION LEVEL REPEATABLE READ READ ONLY', async (tx) => {
    const head = await readHead(tx, uuid)
    if (!head) return null
    const last_lock_change = await readLockChange(tx, uuid)
    return { head, ...(await readRounds(tx, head.id)), last_lock_change, saved_plan: await readPlanStatus(tx, uuid) }
  })
  if (!rows) return null
  const { id: _, scope_id, payload, ...head } = rows.head
  const { storage } = context
  const readRound = async ({
    usage,
    tokens,
    dollars,
    ...round
  }: (typeof rows.rounds)[number]): Promise<RoundDetail> => {
    const inRound = <Row extends RoundRow>(list: readonly Row[]) => list.filter((row) => row.round_id === round.id)
    const listed = <Row extends RoundRow>(list: readonly Row[]) => inRound(list).map(({ round_id: _, ...row }) => row)
    /** Replaces the stored internal address of each artifact by a URL that is signed for the public host. */
    const signed = <Row extends ArtifactRow>(list: readonly Row[]) =>
      Promise.all(
        inRound(list).map(async ({ round_id: _, uri, ...row }) => ({ ...row, url: await storage.presign(uri) })),
      )
    const plans = (await signed(rows.plans)).map(async ({ document_uri, ...plan }) => ({
      ...plan,
      document_url: document_uri === null ? null : await storage.presign(document_uri),
    }))
    return {
      ...round,
      statuses: listed(rows.statuses),
      reports: await signed(rows.reports),
      compliance_checks: await signed(rows.compliance_checks),
      plans: await Promise.all(plans),
      code_changes: await signed(rows.code_changes),
      previews: await signed(rows.previews),
      outputs: await signed(rows.outputs),
      pull_requests: listed(rows.pull_requests),
      attempts: toAttempts(inRound(rows.attempts)),
      usage: usage && toUsage(usage),
      spent: { tokens, dollars },
    }
  }
  const rounds = await Promise.all(rows.rounds.map(readRound))
  const history = options.includeHistory ? payload : null
  const { last_lock_change, saved_plan } = rows
  return { ...toSummary(head), scope_id, rounds, history, last_lock_change, saved_plan }
}

const readPlanStatus = async (sql: Db, uuid: string): Promise<SavedPlanStatus | null> =>
  (await readNewestPlan(sql, uuid))?.status ?? null

async function readHead(tx: Transaction, uuid: string): Promise<Head | null> {
  const [head] = await tx<Head[]>`
    SELECT s.id, p.scope_id, h.payload, ${summaryColumns(tx)}
    FROM sessions s ${factJoins(tx)}
    WHERE s.uuid = ${uuid}`
  return head ?? null
}

async function readLockChange(tx: Transaction, uuid: string): Promise<LockChange | null> {
  const [change] = await tx<LockChange[]>`
    SELECT action = 'session_locked' AS locked, actor AS by, at, (detail->'round')::integer AS round,
           detail->>'reason' AS reason
    FROM audit_records WHERE session_uuid = ${uuid} AND action IN ('session_locked', 'session_unlocked')
    ORDER BY id DESC LIMIT 1`
  return change ?? null
}

async function readRounds(tx: Transaction, sessionId: number) {
  const artifacts = <Own>(table: string, own: Query) => tx<(ArtifactRow & Own)[]>`
    SELECT t.round_id, t.id, a.uri, a.content_type, a.file_size_bytes, ${own}, t.created_at
    FROM ${tx(table)} t JOIN artifacts a ON a.id = t.artifact_id
    WHERE t.round_id IN (SELECT id FROM rounds WHERE session_id = ${sessionId}) ORDER BY t.id`
  return {
    rounds: await tx<StoredRound[]>`
      SELECT id, number, query, preview, usage, result->'state_question' AS state_question, created_at,
             coalesce(input_tokens + output_tokens, 0)::bigint AS tokens, coalesce(cost_usd, 0) AS dollars
      FROM rounds LEFT JOIN round_spend ON round_id = id
      WHERE session_id = ${sessionId} ORDER BY number, id`,
    statuses: await tx<(RoundRow & { status: Status; message: string | null; created_at: string })[]>`
      SELECT round_id, status, message, created_at FROM statuses
      WHERE session_id = ${sessionId} ORDER BY id`,
    reports: await artifacts<{ type: ReportType }>('reports', tx`t.type`),
    compliance_checks: await artifacts<{ passed: boolean }>('compliance_checks', tx`t.passed`),
    plans: await tx<(ArtifactRow & { targets: string[]; document_uri: string | null })[]>`
      SELECT t.round_id, t.id, a.uri, a.content_type, a.file_size_bytes, t.targets, d.uri AS document_uri, t.created_at
      FROM engine_plans t JOIN artifacts a ON a.id = t.artifact_id LEFT JOIN artifacts d ON d.id = t.document_artifact_id
      WHERE t.round_id IN (SELECT id FROM rounds WHERE session_id = ${sessionId}) ORDER BY t.id`,
    code_changes: await artifacts<{ file_name: string }>('code_changes', tx`t.file_name`),
    previews: await artifacts<Pick<RoundDetail['previews'][number], 'counts'>>('previews', tx`t.counts`),
    outputs: await artifacts<{ step: string; exit_code: number | null }>('engine_outputs', tx`t.step, t.exit_code`),
    pull_requests: await tx<(RoundRow & PullRequest)[]>`
      SELECT round_id, provider, number, url FROM pull_requests
      WHERE round_id IN (SELECT id FROM rounds WHERE session_id = ${sessionId}) ORDER BY id`,
    attempts: await readAttempts(tx, sessionId),
  }
}

/** Selects the published figures. The worker stores more, for example those of each step. */
const toUsage = (stored: Partial<RoundUsage>): RoundUsage => ({
  engine_s: stored.engine_s ?? 0,
  model_s: stored.model_s ?? 0,
  input_tokens: stored.input_tokens ?? 0,
  cached_tokens: stored.cached_tokens ?? 0,
  output_tokens: stored.output_tokens ?? 0,
  cost_usd: stored.cost_usd ?? null,
  validation_attempts: stored.validation_attempts ?? 0,
})
