import { Octokit } from '@octokit/core'
import * as v from 'valibot'
import type { GitConfig } from '../../config/types.ts'
import { badGateway, gatewayTimeout, PlatformError } from '../errors.ts'
import type { Fetch } from '../http/outbound.ts'
import { githubRepository } from './repository-path.ts'
import type { PullRequestHost } from './types.ts'

const TIMEOUT_MS = 20_000
const HEADERS = { accept: 'application/vnd.github+json', 'x-github-api-version': '2022-11-28' }

const pullSchema = v.object({ number: v.pipe(v.number(), v.integer()), html_url: v.pipe(v.string(), v.url()), state: v.string() })

/** Pull requests through GitHub's REST interface, or the one at `git.api_url` that speaks like it. */
export function githubHost(git: GitConfig, uri: string, fetch: Fetch): PullRequestHost {
  const repository = githubRepository(git, uri)
  const octokit = new Octokit({ baseUrl: git.api_url || 'https://api.github.com', request: { fetch } })
  const authorization = `Basic ${base64(`${git.user}:${git.token}`)}`
  return {
    create: async ({ title, description, head, base }, signal) => {
      const timeout = AbortSignal.timeout(TIMEOUT_MS)
      const answer = await octokit
        .request('POST /repos/{owner}/{repo}/pulls', {
          ...repository,
          title,
          head,
          base,
          body: description,
          headers: { ...HEADERS, authorization },
          request: { signal: signal ? AbortSignal.any([signal, timeout]) : timeout },
        })
        .catch((error: unknown) => {
          signal?.throwIfAborted()
          throw timeout.aborted ? gatewayTimeout('PR creation timeout', error) : failure(error)
        })
      const pull = v.safeParse(pullSchema, answer.data)
      if (!pull.success) throw badGateway('The git provider answered in an unexpected form.')
      return { id: pull.output.number, url: pull.output.html_url, status: pull.output.state }
    },
  }
}

const answeredSchema = v.object({ status: v.number(), response: v.object({ data: v.unknown() }) })
const MAX_TEXT = 2_000

/** The provider's own status and words; 401 and 403 would read as the caller's own session having ended. */
function failure(error: unknown): PlatformError {
  const answered = v.safeParse(answeredSchema, error)
  if (!answered.success) return badGateway('The git provider is not reachable.', error)
  const { status, response } = answered.output
  const text = typeof response.data === 'string' ? response.data : JSON.stringify(response.data)
  const detail = (text || `The git provider answered ${status}.`).slice(0, MAX_TEXT)
  return new PlatformError('PullRequestRefused', status === 401 || status === 403 ? 502 : status, detail, { cause: error })
}

const base64 = (text: string): string => btoa(String.fromCharCode(...new TextEncoder().encode(text)))
