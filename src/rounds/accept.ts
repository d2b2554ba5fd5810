import { type Actor, auditInsert, platformFor } from '../access/audit/record.ts'
import { conflict } from '../base/errors.ts'
import { maskSecrets } from '../base/mask-secrets.ts'
import type { Cloud, Operation } from '../base/vocabulary.ts'
import type { Context } from '../context.ts'
import type { Transaction } from '../data/db/sql.ts'
import { storable } from '../data/db/values.ts'
import { assertPreviewed } from './previews.ts'
import { type RoundRequest, sessionAggregateKey } from './round.ts'
import { openRound, openSession } from './transitions.ts'

export interface FirstRound extends Pick<RoundRequest, 'query' | 'is_partial' | 'preview' | 'state'> {
  user_id: number
  /** Checked and normalised by the caller. */
  repo_uri: string
  scope_id: string
  provider: Cloud
  iac_path: string | null
  mode: Operation
  /** The actor of the audit entry; default: the platform on behalf of the user. */
  actor?: Actor
}

/**
 * Creates a session with its first round and the status `started`, and queues the round. One transaction writes all of
 * it with the audit entry, so that no session is left without a round or a queue message. Secrets in the request are
 * masked first.
 * @returns the session's uuid
 */
export async function acceptFirstRound(
  context: Pick<Context, 'sql' | 'queue' | 'now'>,
  input: FirstRound,
): Promise<string> {
  const { user_id, mode, is_partial, preview = false, provider } = input
  const query = storable(maskSecrets(input.query))
  const repo_uri = storable(input.repo_uri)
  const branch = branchName(context.now())
  const isThere = async (uuid: string) => {
    const found = await context.sql`SELECT 1 FROM sessions WHERE uuid = ${uuid}`
    return found.length > 0
  }
  return context.sql.begin(async (tx) => {
    const audit = auditInsert(
      tx,
      {
        action: 'round_accepted',
        actor: input.actor ?? platformFor(user_id),
        session_id: tx`uuid`,
        detail: { mode, round: 1, is_partial, repository: input.repo_uri },
      },
      tx`FROM session`,
    )
    const details = tx`
      workspace AS (
        INSERT INTO workspaces (session_id, uri, branch, root_path)
        SELECT id, ${repo_uri}, ${branch}, ${storable(input.iac_path)} FROM session
      ), provider AS (
        INSERT INTO engine_providers (session_id, provider, scope_id)
        SELECT id, ${provider}, ${storable(input.scope_id)} FROM session
      ), history AS (
        INSERT INTO histories (session_id, first_query) SELECT id, ${query} FROM session
      ), audit AS (${audit})`
    const session = { user_id, operation: mode, provider, repo_uri, query, is_partial, preview, state: input.state }
    const { uuid, round_id } = await openSession(tx, session, details)
    await context.queue.enqueue(tx, round_id)
    return uuid
  }, isThere)
}

export interface NextRound extends RoundRequest {
  session_uuid: string
  /** The actor of the audit entry; default: the platform on behalf of the session's owner. */
  actor?: Actor
}

/**
 * Opens the next round of an existing session that has no running round and did not fail: one transaction writes the
 * round, in whose request secrets are masked, and the status `started`, and queues the round. For any other session
 * nothing changes, and the reason is logged. Throws 409 for an apply on a locked session, regardless of its state;
 * `NotPreviewed`.
 */
export async function acceptRound(
  context: Pick<Context, 'sql' | 'queue' | 'cache' | 'log'>,
  input: NextRound,
): Promise<void> {
  const isThere = async (roundId: number | null) => {
    const found = await context.sql`
      SELECT 1 FROM rounds r JOIN sessions s ON s.id = r.session_id
      WHERE r.id = ${roundId} AND s.uuid = ${input.session_uuid}`
    return found.length > 0
  }
  const roundId = await context.sql.begin(async (tx) => {
    if (input.resource_ids) await assertPreviewed(tx, input.session_uuid, input.resource_ids)
    const audit = tx`audit AS (${auditNextRound(tx, input)})`
    const opened = await openRound(tx, { ...input, query: storable(maskSecrets(input.query)) }, audit)
    if (opened !== null) await context.queue.enqueue(tx, opened)
    return opened
  }, isThere)
  if (roundId !== null) await context.cache.delete(sessionAggregateKey(input.session_uuid))
  else await refuseRound(context, input)
}

const auditNextRound = (tx: Transaction, { mode, is_partial, actor }: NextRound) =>
  auditInsert(
    tx,
    {
      action: mode === 'apply' ? 'apply_accepted' : 'round_accepted',
      actor: actor ?? { ...platformFor(null), user_id: tx`session.user_id` },
      session_id: tx`session.uuid`,
      detail: tx`jsonb_build_object('mode', ${mode}::text, 'round', session.round_count,
                                    'is_partial', ${is_partial}::boolean, 'repository', w.uri)`,
    },
    tx`FROM session JOIN workspaces w ON w.session_id = session.id`,
  )

/** Reports why a round was not opened: throws for a locked session, otherwise logs. */
async function refuseRound(
  context: Pick<Context, 'sql' | 'log'>,
  { session_uuid: uuid, mode }: NextRound,
): Promise<void> {
  const [session] = await context.sql<{ in_flight: boolean; is_blocked: boolean }[]>`
    SELECT in_flight, is_blocked FROM sessions WHERE uuid = ${uuid}`
  if (mode === 'apply' && session?.is_blocked) throw conflict(`Session ${uuid} is blocked; apply is not allowed.`)
  const text = session?.in_flight
    ? `Session ${uuid} already has an operation in flight.`
    : `Session ${uuid} is finished and cannot be resumed.`
  context.log.info(`runner not started: ${text} (session ${uuid})`, { session_id: uuid })
}

/** Returns for example `Platform/2026-03-01_142530-9f3a`, in UTC. The four hexadecimal digits are random. */
function branchName(now: Date): string {
  const [day = '', time = ''] = now.toISOString().split('T')
  return `Platform/${day}_${time.slice(0, 8).replaceAll(':', '')}-${crypto.randomUUID().slice(0, 4)}`
}
