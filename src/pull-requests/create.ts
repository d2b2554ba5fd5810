import type { Actor } from '../access/audit/record.ts'
import { badGateway, conflict, gatewayTimeout, notFound, PlatformError, sessionNotFound } from '../base/errors.ts'
import { withTimeLimit } from '../base/time.ts'
import { limitSpend } from '../budget/budget.ts'
import type { Context } from '../context.ts'
import type { RunTrace } from '../observe/run-trace.ts'
import { compareWithDefaultBranch } from '../repository/head.ts'
import { findSession, readReviewedCommit } from '../sessions/find.ts'
import { recordPullRequest } from '../sessions/pull-requests.ts'
import { composeDescription } from './evidence/compose.ts'
import { readEvidence, readEvidenceRows } from './evidence/read-evidence.ts'
import { CREATE_LATE, type CreatedPullRequest } from './host.ts'
import { createPullRequestHost, TOTAL_MS } from './host-of.ts'
import { maskRounds } from './shown-rounds.ts'
import { writeText } from './write-text.ts'

/** Time reserved for the git host, which takes 20 seconds at most. */
const HOST_MS = 21_000
/** Longest wait for the model, after which code writes the text. */
const TEXT_MS = 20_000

/**
 * Opens a pull request from the session branch to the default branch and records it with the latest round. A model
 * writes title and summary, or code after 20 seconds; code adds evidence from stored documents. The caller has checked
 * that the session belongs to the user.
 * @param actor the user who requests it, for the audit record
 * Errors: 404 for an unknown session and for one without rounds, 409 when its branch holds no change, 502 when the
 * repository cannot be read, those of the provider, those of the model (504 when its server says so, else 502), and 504
 * `PR creation timeout` after 45 seconds in all.
 */
export async function createPullRequest(
  context: Context,
  sessionUuid: string,
  signal: AbortSignal = new AbortController().signal,
  actor?: Actor,
): Promise<CreatedPullRequest> {
  const limit = new AbortController()
  const late = () => {
    const error = gatewayTimeout(CREATE_LATE)
    limit.abort(error)
    return error
  }
  const work = openPullRequest(context, sessionUuid, AbortSignal.any([signal, limit.signal]), actor)
  // Late results have no receiver.
  work.catch((error: unknown) => {
    if (limit.signal.aborted)
      context.log.warn('a pull request was not opened in time', { session_id: sessionUuid, error })
  })
  return await withTimeLimit(TOTAL_MS, work, late)
}

async function openPullRequest(
  context: Context,
  sessionUuid: string,
  signal: AbortSignal,
  actor: Actor | undefined,
): Promise<CreatedPullRequest> {
  const start = performance.now()
  const rows = await readEvidenceRows(context.sql, sessionUuid)
  if (!rows) throw sessionNotFound(sessionUuid)
  if (rows.rounds.length === 0) throw notFound(`Session ${sessionUuid} has no rounds.`)
  const { uri, branch } = rows.session
  const host = createPullRequestHost(context, uri)
  const { base, exists, differs } = await compareWithDefaultBranch(context, uri, branch, signal)
  if (!exists && (await hasReviewedCommit(context, sessionUuid))) throw branchMissing(rows.session)
  if (!differs) throw nothingChanged(rows.session)
  const trace = await openTrace(context, sessionUuid)
  const left = TOTAL_MS - HOST_MS - Math.ceil(performance.now() - start)
  const llm = limitSpend(context, context.llm, { user_id: rows.session.user_id, round_id: null })
  const told = { ...rows.session, rounds: maskRounds(context.config, rows) }
  const [{ title, summary }, evidence] = await Promise.all([
    writeText({ ...context, llm }, told, { budgetMs: Math.min(TEXT_MS, left), signal, trace }).catch(
      throwAsServiceFailure,
    ),
    readEvidence(context, rows, signal),
  ])
  signal.throwIfAborted()
  const { session_url } = context.config.http
  const description = composeDescription(summary, evidence, { limit: host.maxDescription, session_url })
  const created = await host.create({ title, description, head: branch, base }, signal)
  const pullRequest = { provider: context.config.git.provider, number: created.id, url: created.url }
  await recordPullRequest(context, sessionUuid, pullRequest, actor)
  return created
}

async function hasReviewedCommit({ sql }: Context, sessionUuid: string): Promise<boolean> {
  const session = await findSession(sql, sessionUuid)
  return session !== null && Boolean(await readReviewedCommit(sql, session.id))
}

const branchMissing = ({ uuid, branch }: { uuid: string; branch: string }) =>
  conflict(
    `The branch '${branch}' of session ${uuid} is no longer at the git host, so there is nothing to open a pull request ` +
      'for: restore it there, or request another round, which begins at the default branch.',
  )

const nothingChanged = ({ uuid, in_flight }: { uuid: string; in_flight: boolean }) =>
  conflict(
    in_flight
      ? `Nothing was changed in session ${uuid} yet; open the pull request when its round has completed.`
      : `Nothing was changed in session ${uuid}, so there is nothing to open a pull request for.`,
  )

/** Opens the trace of the model call, undefined while tracing is off; the model's texts are already masked. */
async function openTrace({ tracing, sql }: Context, sessionUuid: string): Promise<RunTrace | undefined> {
  const session = tracing && (await findSession(sql, sessionUuid))
  return session ? (await tracing.session(session)).masked({ text: (text) => text }) : undefined
}

/** Replaces the status of a model's error by 502 or 504: clients would take a 401 for the end of their login. */
function throwAsServiceFailure(error: unknown): never {
  if (!(error instanceof PlatformError)) throw error
  throw error.status === 504 ? gatewayTimeout(error.message, error) : badGateway(error.message, error)
}
