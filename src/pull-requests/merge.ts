import { type Actor, platformFor, recordAudit } from '../access/audit/record.ts'
import { conflict, gatewayTimeout, notFound, PlatformError, sessionNotFound } from '../base/errors.ts'
import type { Context } from '../context.ts'
import type { Db } from '../data/db/sql.ts'
import { type SessionFacts, sessionAggregateKey } from '../rounds/round.ts'
import { findSession, readReviewedCommit } from '../sessions/find.ts'
import { findLatestPullRequest } from '../sessions/pull-requests.ts'
import { MERGE_LATE, type PullRequestHost } from './host.ts'
import { createPullRequestHost, TOTAL_MS } from './host-of.ts'
import type { Readiness } from './readiness/findings.ts'

/** Longest reading of the reasons of a merge that failed. */
const REASONS_MS = 4_000

/**
 * Merges the session's latest pull request, provided that its branch is where the last completed round left it. The
 * session's status stays, even when the merge fails. The caller has checked that the session belongs to the user. The
 * audit record gets an entry before the git host is called, so that no merge lacks one, and another after it. A pull
 * request that is merged already at the reviewed commit is a success.
 * @param actor the user who requests it, for the audit record; the platform acts for the owner without it
 * Errors: 404 for an unknown session and for one without pull requests, 409 for a locked session, one with a round in
 * flight, one whose last round failed, and one whose branch holds code that was not reviewed, 504 `Complete PR timeout`
 * when the merge takes more than 45 seconds, and those of the provider, which carry what stands in the way in
 * `readiness`, if the provider says it.
 */
export async function mergePullRequest(
  context: Context,
  sessionUuid: string,
  signal: AbortSignal = new AbortController().signal,
  actor?: Actor,
): Promise<void> {
  const session = await requireUnlockedSession(context.sql, sessionUuid)
  const pullRequest = await findLatestPullRequest(context.sql, sessionUuid)
  if (!pullRequest) throw noPullRequests(sessionUuid)
  assertRoundEnded(session)
  const commit = await requireReviewedCommit(context.sql, session)
  const host = createPullRequestHost(context, session.workspace.uri)
  const { provider, number, url } = pullRequest
  const by = actor ?? platformFor(session.user_id)
  const entry = { actor: by, session_id: session.uuid, detail: { provider, number, url } as Record<string, unknown> }
  const limit = new AbortController()
  const timer = setTimeout(() => limit.abort(gatewayTimeout(MERGE_LATE)), TOTAL_MS)
  const options = { commit, signal: AbortSignal.any([signal, limit.signal]) }
  const objections: unknown[] = []
  // Waiting for the provider takes seconds, in which the session may be locked or begin a round.
  const confirm = async () => {
    assertRoundEnded(await requireUnlockedSession(context.sql, sessionUuid))
    await recordAudit(context.sql, { ...entry, action: 'merge_begun' })
  }
  const confirmOrObject = () =>
    confirm().catch((error: unknown) => {
      objections.push(error)
      throw error
    })
  try {
    const end = await host.merge(number, { ...options, confirm: confirmOrObject }).catch(async (error: unknown) => {
      if (error instanceof PlatformError && !objections.includes(error))
        error.more = await readReasons(host, number, options)
      throw error
    })
    if (end === 'merged_before') entry.detail.found_merged = true
  } finally {
    clearTimeout(timer)
    await context.cache.delete(readinessKey(sessionUuid))
  }
  // The merge is done even if this entry fails.
  await recordAudit(context.sql, { ...entry, action: 'merge_completed' }).catch((error: unknown) =>
    context.log.error('a merge could not be recorded', { session_id: sessionUuid, number, error }),
  )
  await context.cache.delete(sessionAggregateKey(sessionUuid))
}

/** Key of the cached reading of what stands in the way of a merge. */
export const readinessKey = (sessionUuid: string): string =>
  `platform:session:${sessionUuid.toLowerCase()}:merge_readiness`

/** Reads why a merge failed, for the response. It is empty when the host does not say in time. */
async function readReasons(
  host: PullRequestHost,
  number: number,
  { commit, signal }: { commit: string | undefined; signal: AbortSignal },
): Promise<{ readiness?: Readiness }> {
  const limits = AbortSignal.any([signal, AbortSignal.timeout(REASONS_MS)])
  return await host.readiness(number, { commit, signal: limits }).then(
    (readiness) => ({ readiness }),
    () => ({}),
  )
}

export const noPullRequests = (uuid: string) => notFound(`Session ${uuid} has no pull requests.`)

/**
 * Returns the commit that may be merged; undefined for sessions older than this rule. Errors: 409 when the session
 * itself forbids a merge, 404 for an unknown session.
 */
export async function requireMergeableSession(sql: Db, uuid: string): Promise<string | undefined> {
  const session = await requireUnlockedSession(sql, uuid)
  assertRoundEnded(session)
  return await requireReviewedCommit(sql, session)
}

async function requireUnlockedSession(sql: Db, uuid: string): Promise<SessionFacts> {
  const session = await findSession(sql, uuid)
  if (!session) throw sessionNotFound(uuid)
  if (session.is_blocked) throw conflict(`Session ${session.uuid} is blocked; PR merge is not allowed.`)
  return session
}

/** Attempts are pushed before they are validated, so the branch may hold code that was not reviewed. */
function assertRoundEnded({ uuid, in_flight, current_status }: SessionFacts): void {
  if (in_flight)
    throw conflict(`A round of session ${uuid} is running; PR merge is not allowed until it has completed.`)
  if (current_status === 'failed')
    throw conflict(`The last round of session ${uuid} failed; PR merge is not allowed. Begin a new session.`)
}

/** Returns the commit that may be merged; undefined for sessions older than this rule. */
async function requireReviewedCommit(sql: Db, { id, uuid }: SessionFacts): Promise<string | undefined> {
  const commit = await readReviewedCommit(sql, id)
  if (commit === '') throw conflict(`No round of session ${uuid} has completed; PR merge is not allowed.`)
  return commit ?? undefined
}
