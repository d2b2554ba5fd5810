import { PlatformError } from '../base/errors.ts'
import { parseJson } from '../base/json.ts'
import type { Context } from '../context.ts'
import { findLatestPullRequest } from '../sessions/pull-requests.ts'
import type { PullRequest } from '../sessions/session-detail.ts'
import type { KnownAnswers } from './host.ts'
import { createPullRequestHost } from './host-of.ts'
import { noPullRequests, readinessKey, requireMergeableSession } from './merge.ts'
import { type Readiness, unknownReadiness } from './readiness/findings.ts'

/** Limit of a whole reading. */
const TOTAL_MS = 15_000
/** How long a reading serves further callers, in milliseconds: one takes up to ten calls of the host. */
const FRESH_MS = 10_000
/** How long the answers of the host are kept, in seconds, so that only what has changed is asked for. */
const KEPT_S = 3_600

export interface MergeReadiness extends PullRequest, Readiness {
  /** When the host was asked, as ISO 8601. */
  read_at: string
}

/**
 * Reads what stands in the way of merging the latest pull request of a session: the session itself, and what the git
 * host says. A host that fails is `unknown`, not an error.
 * Errors: 404 for an unknown session and for one without pull requests.
 */
export async function readMergeReadiness(
  context: Pick<Context, 'sql' | 'cache' | 'config' | 'fetch' | 'log' | 'now'>,
  session: { uuid: string; workspace: { uri: string } },
): Promise<MergeReadiness> {
  const pullRequest = await findLatestPullRequest(context.sql, session.uuid)
  if (!pullRequest) throw noPullRequests(session.uuid)
  const own: Readiness['blockers'] = []
  const commit = await requireMergeableSession(context.sql, session.uuid).catch((error: unknown) => {
    if (!(error instanceof PlatformError) || error.status !== 409) throw error
    own.push({ code: 'session', text: error.message, checks: [] })
    return undefined
  })
  const question = JSON.stringify([pullRequest, commit ?? null])
  const key = readinessKey(session.uuid)
  const read = await shareRunning(context.cache, `${key} ${question}`, async () => {
    const kept = parseJson((await context.cache.get(key)) ?? 'null') as Kept | null | undefined
    const age = kept?.question === question ? context.now().getTime() - Date.parse(kept.read.read_at) : null
    if (kept && age !== null && age >= 0 && age < FRESH_MS) return kept.read
    const known: KnownAnswers = new Map(kept?.known)
    const asked = await askHost(context, session.workspace.uri, { pullRequest, commit, known })
    await context.cache.set(key, JSON.stringify({ question, read: asked, known: [...known] } satisfies Kept), KEPT_S)
    return asked
  })
  const status = own.length > 0 && read.status !== 'merged' && read.status !== 'closed' ? 'blocked' : read.status
  return { ...pullRequest, ...read, status, blockers: [...own, ...read.blockers] }
}

type Read = Readiness & { read_at: string }
interface Kept {
  question: string
  read: Read
  known: [string, { etag: string; data: unknown }][]
}

const running = new WeakMap<Context['cache'], Map<string, Promise<Read>>>()

/** Gives all callers of a core that come while a reading runs its one result. */
async function shareRunning(cache: Context['cache'], key: string, start: () => Promise<Read>): Promise<Read> {
  const all = running.get(cache) ?? new Map<string, Promise<Read>>()
  running.set(cache, all)
  const current = all.get(key) ?? start().finally(() => all.delete(key))
  all.set(key, current)
  return await current
}

async function askHost(
  context: Pick<Context, 'config' | 'fetch' | 'log' | 'now'>,
  uri: string,
  {
    pullRequest: { number },
    commit,
    known,
  }: { pullRequest: PullRequest; commit: string | undefined; known: KnownAnswers },
): Promise<Read> {
  const read_at = context.now().toISOString()
  try {
    const signal = AbortSignal.timeout(TOTAL_MS)
    return { ...(await createPullRequestHost(context, uri, known).readiness(number, { commit, signal })), read_at }
  } catch (error) {
    context.log.info('the readiness of a pull request could not be read', { number, error })
    const why = error instanceof PlatformError ? `: ${error.message.slice(0, 300)}` : ' in time.'
    return { ...unknownReadiness(`The git host did not say whether it can be merged${why}`), read_at }
  }
}
