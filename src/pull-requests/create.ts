import { badGateway, gatewayTimeout, notFound, PlatformError, sessionNotFound } from '../base/errors.ts'
import type { Context } from '../context.ts'
import type { RunTrace } from '../observe/trace-types.ts'
import { defaultBranch } from '../repository/head.ts'
import { findSession } from '../sessions/find.ts'
import { recordPullRequest } from '../sessions/pull-requests.ts'
import { composeDescription } from './evidence/compose.ts'
import { readEvidence } from './evidence/read.ts'
import { readEvidenceRows } from './evidence/rows.ts'
import { pullRequestHost } from './host-of.ts'
import type { CreatedPullRequest } from './types.ts'
import { writePullRequestText } from './write-text.ts'

/**
 * Opens a pull request from the session branch into the repository's default branch and records it
 * with the session's latest round. The model writes title and summary; what the plan does and what was
 * found out about it is put behind the summary from the session's record. The caller has checked that the session is the user's own.
 * Errors: 404 for an unknown session and one without rounds, and those of the provider, of the remote
 * (502) and of the model (504 when it was late, else 502).
 */
export async function createPullRequest(
  context: Context,
  session_uuid: string,
  signal: AbortSignal = new AbortController().signal,
): Promise<CreatedPullRequest> {
  const rows = await readEvidenceRows(context.sql, session_uuid)
  if (!rows) throw sessionNotFound(session_uuid)
  if (rows.rounds.length === 0) throw notFound(`Session ${session_uuid} has no rounds.`)
  const { uri, branch } = rows.session
  const host = pullRequestHost(context, uri)
  const base = await defaultBranch(context, uri, signal)
  const [{ title, summary }, evidence] = await Promise.all([
    writePullRequestText(context, rows.session, signal, await openTrace(context, session_uuid)).catch(asServiceFailure),
    readEvidence(context, rows, signal),
  ])
  const { session_url } = context.config.http
  const description = composeDescription(summary, evidence, { limit: host.maxDescription, session_url })
  const created = await host.create({ title, description, head: branch, base }, signal)
  await recordPullRequest(context, session_uuid, {
    provider: context.config.git.provider,
    number: created.id,
    url: created.url,
  })
  return created
}

/** What the model is told was masked when it was stored; values of the configuration are masked anyway. */
async function openTrace({ tracing, sql }: Context, session_uuid: string): Promise<RunTrace | undefined> {
  const session = tracing && (await findSession(sql, session_uuid))
  return session ? (await tracing.session(session)).masked({ text: (text) => text }) : undefined
}

/** A model's own status would read as the caller's: its 401 as the end of their session. */
function asServiceFailure(error: unknown): never {
  if (!(error instanceof PlatformError)) throw error
  throw error.status === 504 ? gatewayTimeout(error.message, error) : badGateway(error.message, error)
}
