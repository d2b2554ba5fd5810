import { badRequest, type PlatformError } from '../base/errors.ts'
import { type OutboundResponse, send } from '../base/http.ts'
import { readRepositoryPath } from './address.ts'
import { createCheckedFetch } from './allowed-addresses.ts'
import { READ_AGAIN } from './git-http.ts'
import { credentials, withDeadline } from './head.ts'
import { type GitContext, isConfiguredHost, loggableUri, remoteUrl } from './remote.ts'
import { describeUnfitToken, tokenRefused } from './sign-in.ts'

const TOTAL_MS = 20_000
const LIMITS = { timeoutMs: 10_000, maxBytes: 4 * 1024 * 1024 }
const MAX_WORDS = 300

/**
 * Asks the host of a reachable repository for a push, as git does, and changes nothing. Every round but a preview pushes
 * its branch first and wants a pull request last, so what stands in the way is told before it begins. Errors: 400 for an
 * address on the configured host that has no pull requests there, and when the host refuses pushes; other faults are
 * left to the round.
 */
export async function assertMayPush(context: GitContext, uri: string, signal?: AbortSignal): Promise<void> {
  const { git } = context.config
  const url = remoteUrl(git, uri)
  const isOwn = isConfiguredHost(git, url)
  if (isOwn) readRepositoryPath(git, uri)
  const unfit = isOwn ? describeUnfitToken(git) : null
  if (unfit !== null) throw badRequest(unfit)
  const auth = credentials(context, url).onAuth?.()
  const answer = await ask(context, url, auth, signal).catch((error: unknown) => {
    signal?.throwIfAborted()
    context.log.warn('the right to push is not known', { repository: loggableUri(uri), reason: error })
    return null
  })
  if (answer?.status !== 401 && answer?.status !== 403) return
  context.log.info('pushes are refused', { repository: loggableUri(uri), status: answer.status })
  if (auth) throw answer.status === 401 ? badRequest(tokenRefused(git)) : refused(answer, git.token)
  throw badRequest(
    isOwn
      ? 'The platform may not push to this repository, because no account of the git host is configured ' +
          '(git.pat_user_env and git.pat_token_env).'
      : `The platform may not push to this repository: its account is for the git host '${git.host}', and this ` +
          'repository is elsewhere.',
  )
}

async function ask(
  context: GitContext,
  url: URL,
  auth: { headers: Record<string, string> } | undefined,
  signal: AbortSignal | undefined,
): Promise<OutboundResponse> {
  const fetch = await createCheckedFetch(context, url, signal)
  return await send(fetch, {
    url: `${url.href}/info/refs?service=git-receive-pack`,
    headers: auth?.headers ?? {},
    signal: withDeadline(signal, TOTAL_MS),
    ...LIMITS,
    ...READ_AGAIN,
  })
}

/** Makes the error of a host that does not take pushes of the account, with its words where they are plain text. */
function refused(answer: OutboundResponse, token: string): PlatformError {
  const isText = answer.headers.get('content-type')?.startsWith('text/plain') ?? false
  const words = isText ? answer.text().replaceAll(token, '***').replaceAll(/\s+/g, ' ').trim().slice(0, MAX_WORDS) : ''
  const said = words === '' ? '.' : `: ${words}`
  return badRequest(`The git host lets the account of the platform not push to this repository${said}`)
}
