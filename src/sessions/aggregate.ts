import { type ReportType, type Status, TERMINAL_STATUSES, type Turn } from '../base/vocabulary.ts'
import type { Context } from '../context.ts'
import type { Transaction } from '../data/db/types.ts'
import { sessionAggregateKey, sessionAggregateTtl } from './cache-keys.ts'
import { isUuid } from './find.ts'
import { type SummaryRow, toSummary } from './list.ts'
import type { ArtifactEntry, PullRequest, RoundDetail, RoundUsage, SessionAggregate } from './types.ts'

type Needs = Pick<Context, 'sql' | 'cache' | 'storage'>

/**
 * A session with everything below it, in a constant number of queries; null when there is none.
 * Finished idle sessions come from the cache unless the history is asked for.
 */
export async function loadAggregate(
  context: Needs,
  uuid: string,
  options: { include_history: boolean },
): Promise<SessionAggregate | null> {
  if (!isUuid(uuid)) return null
  if (options.include_history) return readAggregate(context, uuid, options)
  const key = sessionAggregateKey(uuid)
  const cached = parseEntry(await context.cache.get(key))
  if (cached && (await isCurrent(context, cached))) return cached
  const aggregate = await readAggregate(context, uuid, options)
  if (aggregate && isFinished(aggregate)) {
    const ttl = Math.floor(Math.min(sessionAggregateTtl(), await halfOfUrls(context)))
    if (ttl > 0) await context.cache.set(key, JSON.stringify(aggregate), ttl)
  }
  return aggregate
}

/** Seconds. Temporary credentials end the URLs inside early: an entry then lives half as long, a reader has the rest. */
async function halfOfUrls({ storage }: Needs): Promise<number> {
  const lapse = await storage.urlsLapse()
  return lapse ? (lapse.getTime() - Date.now()) / 2000 : Number.POSITIVE_INFINITY
}

const isFinished = (session: SessionAggregate): boolean =>
  !session.in_flight && TERMINAL_STATUSES.some((status) => status === session.current_status)

/**
 * Every change of a session moves its `updated_at`. Asking for it closes the gap between a change
 * and the removal of the entry, also when the cache was away at that moment.
 */
async function isCurrent(context: Needs, cached: SessionAggregate): Promise<boolean> {
  const [row] = await context.sql<{ updated_at: string }[]>`SELECT updated_at FROM sessions WHERE uuid = ${cached.uuid}`
  return row?.updated_at === cached.updated_at
}

/** What we wrote ourselves; anything unreadable counts as absent. */
function parseEntry(text: string | null): SessionAggregate | null {
  if (text === null) return null
  try {
    const entry: SessionAggregate = JSON.parse(text)
    return typeof entry?.uuid === 'string' ? entry : null
  } catch {
    return null
  }
}

type Head = SummaryRow & { id: number; scope_id: string; payload: Turn[] }
type OfRound = { round_id: number }
type Stored = OfRound & Omit<ArtifactEntry, 'url'> & { uri: string }

/** Reads the whole session from one snapshot; eight queries however many rounds it has. */
async function readAggregate(
  context: Pick<Context, 'sql' | 'storage'>,
  uuid: string,
  options: { include_history: boolean },
): Promise<SessionAggregate | null> {
  const rows = await context.sql.begin('ISOLATION LEVEL REPEATABLE READ READ ONLY', async (tx) => {
    const head = await readHead(tx, uuid)
    return head ? { head, ...(await readRounds(tx, head.id)) } : null
  })
  if (!rows) return null
  const { head } = rows
  const entries = {
    reports: await presigned(context, rows.reports),
    compliance_checks: await presigned(context, rows.compliance_checks),
    plans: await presigned(context, rows.plans),
    code_changes: await presigned(context, rows.code_changes),
  }
  const rounds = rows.rounds.map(({ id, number, query, usage, created_at }): RoundDetail => {
    const mine = <Row extends OfRound>(list: readonly Row[]) =>
      list.filter((row) => row.round_id === id).map(withoutRound)
    return {
      id,
      number,
      query,
      statuses: mine(rows.statuses),
      reports: mine(entries.reports),
      compliance_checks: mine(entries.compliance_checks),
      plans: mine(entries.plans),
      code_changes: mine(entries.code_changes),
      pull_requests: mine(rows.pull_requests),
      usage: usage && usageOf(usage),
      created_at,
    }
  })
  return { ...toSummary(head), scope_id: head.scope_id, rounds, history: options.include_history ? head.payload : null }
}

async function readHead(tx: Transaction, uuid: string): Promise<Head | null> {
  const [head] = await tx<Head[]>`
    SELECT s.id, s.uuid, coalesce(nullif(u.email, ''), 'user-' || u.id) AS username, s.operation, p.provider, p.scope_id,
           h.first_query, h.payload, w.uri, w.branch, w.root_path, s.last_status AS current_status,
           s.in_flight, s.is_blocked, s.created_at, s.updated_at
    FROM sessions s
    JOIN users u ON u.id = s.user_id
    JOIN workspaces w ON w.session_id = s.id
    JOIN engine_providers p ON p.session_id = s.id
    JOIN histories h ON h.session_id = s.id
    WHERE s.uuid = ${uuid}`
  return head ?? null
}

async function readRounds(tx: Transaction, sessionId: number) {
  const artifacts = <Own>(table: string, column: string) => readArtifacts<Own>(tx, sessionId, table, column)
  const [rounds, statuses, reports, compliance_checks, plans, code_changes, pull_requests] = await Promise.all([
    tx<{ id: number; number: number; query: string; usage: Partial<RoundUsage> | null; created_at: string }[]>`
      SELECT id, number, query, usage, created_at FROM rounds WHERE session_id = ${sessionId} ORDER BY number, id`,
    tx<(OfRound & { status: Status; message: string | null; created_at: string })[]>`
      SELECT round_id, status, message, created_at FROM statuses WHERE session_id = ${sessionId} ORDER BY created_at, id`,
    artifacts<{ type: ReportType }>('reports', 'type'),
    artifacts<{ passed: boolean }>('compliance_checks', 'passed'),
    artifacts<{ targets: string[] }>('engine_plans', 'targets'),
    artifacts<{ file_name: string }>('code_changes', 'file_name'),
    tx<(OfRound & PullRequest)[]>`
      SELECT round_id, provider, number, url FROM pull_requests WHERE round_id IN (SELECT id FROM rounds WHERE session_id = ${sessionId}) ORDER BY created_at, id`,
  ])
  return { rounds, statuses, reports, compliance_checks, plans, code_changes, pull_requests }
}

async function readArtifacts<Own>(
  tx: Transaction,
  sessionId: number,
  table: string,
  column: string,
): Promise<(Stored & Own)[]> {
  return tx<(Stored & Own)[]>`
    SELECT t.round_id, t.id, a.uri, a.content_type, a.file_size_bytes, t.${tx(column)}, t.created_at
    FROM ${tx(table)} t JOIN artifacts a ON a.id = t.artifact_id
    WHERE t.round_id IN (SELECT id FROM rounds WHERE session_id = ${sessionId}) ORDER BY t.created_at, t.id`
}

/** The totals of what the worker stored; it keeps more than is shown. */
const usageOf = (stored: Partial<RoundUsage>): RoundUsage => ({
  engine_s: stored.engine_s ?? 0,
  model_s: stored.model_s ?? 0,
  input_tokens: stored.input_tokens ?? 0,
  cached_tokens: stored.cached_tokens ?? 0,
  output_tokens: stored.output_tokens ?? 0,
  cost_usd: stored.cost_usd ?? null,
  validation_attempts: stored.validation_attempts ?? 0,
})

/** The stored address never leaves; a URL signed for the public host does. */
function presigned<Row extends Stored>(context: Pick<Context, 'storage'>, rows: readonly Row[]) {
  return Promise.all(rows.map(async ({ uri, ...row }) => ({ ...row, url: await context.storage.presign(uri) })))
}

const withoutRound = <Row extends OfRound>({ round_id: _, ...row }: Row): Omit<Row, 'round_id'> => row
