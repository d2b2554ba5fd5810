import { Octokit } from '@octokit/core'
import * as v from 'valibot'
import { basicAuthorization, type Fetch } from '../base/http.ts'
import {
  assertAt,
  CREATE_LATE,
  callProvider,
  cannotBeMerged,
  type HostAccess,
  type HostFactory,
  MERGE_LATE,
  noOpenPullRequest,
  pageUrl,
  pollUntilReady,
  pullNumber,
  readAnswer,
  rethrowMoved,
} from './host.ts'
import { parseGithubRepository } from './repository-path.ts'

const MAX_DESCRIPTION = 65_536

const createdSchema = v.object({ number: pullNumber, html_url: pageUrl, state: v.string() })
/** `mergeable` is null while GitHub tries the merge, and for closed pull requests. */
const pullSchema = v.object({
  mergeable: v.nullable(v.boolean()),
  state: v.optional(v.string()),
  merged: v.optional(v.boolean()),
  head: v.optional(v.object({ sha: v.optional(v.string()) })),
})
/** The HTTP status confirms the merge; `merged` may be absent, but must not contradict. */
const mergedSchema = v.object({ merged: v.optional(v.literal(true)) })

/** Client for GitHub or an Enterprise server, over the REST interface. */
export const githubHost: HostFactory = (access, uri) => {
  const repository = parseGithubRepository(access.git, uri)
  const octokit = createOctokit(access)
  const options = (signal: AbortSignal, late: string) => ({
    ...repository,
    request: { signal, fetch: createOctokitFetch(access, signal, late) },
  })
  return {
    maxDescription: MAX_DESCRIPTION,
    create: async ({ title, description, head, base }, signal) => {
      const body = description.slice(0, MAX_DESCRIPTION)
      const { data } = await octokit
        .request('POST /repos/{owner}/{repo}/pulls', { ...options(signal, CREATE_LATE), title, head, base, body })
        .catch(rethrowCause)
      const pull = readAnswer(createdSchema, { json: () => data })
      return { id: pull.number, url: pull.html_url, status: pull.state }
    },
    merge: async (number, { commit, confirm, signal }) => {
      const call = { ...options(signal, MERGE_LATE), pull_number: number }
      const mergeable = await pollUntilReady(
        async () => {
          const { data } = await octokit
            .request('GET /repos/{owner}/{repo}/pulls/{pull_number}', call)
            .catch(rethrowCause)
          const pull = readAnswer(pullSchema, { json: () => data })
          if (pull.state === 'closed') throw noOpenPullRequest(number, pull.merged ? 'merged' : 'closed')
          assertAt(number, pull.head?.sha, commit)
          return pull.mergeable
        },
        { number, seconds: access.readinessSeconds, signal },
      )
      if (!mergeable) throw cannotBeMerged(number)
      await confirm()
      const { data } = await octokit
        .request('PUT /repos/{owner}/{repo}/pulls/{pull_number}/merge', commit ? { ...call, sha: commit } : call)
        .catch(rethrowCause)
        .catch((error: unknown) => rethrowMoved(number, commit, error))
      readAnswer(mergedSchema, { json: () => data })
    },
  }
}

function createOctokit({ git }: HostAccess): Octokit {
  const publicApi = git.host === 'github.com' ? 'https://api.github.com' : `https://${git.host}/api/v3`
  const octokit = new Octokit({ baseUrl: git.api_url || publicApi, request: { log: { warn: () => {} } } })
  octokit.hook.before('request', (options) => {
    options.headers.accept = 'application/vnd.github+json'
    options.headers['x-github-api-version'] = '2022-11-28'
    options.headers.authorization = basicAuthorization(git.user, git.token)
  })
  return octokit
}

/**
 * Creates the `fetch` for Octokit, which has no limit and accepts truncated bodies: bodies are read completely and
 * within a limit. Redirects are followed, because GitHub redirects renamed repositories.
 */
function createOctokitFetch(access: HostAccess, signal: AbortSignal, late: string): Fetch {
  return async (input, init) => {
    const { status, headers, body } = await callProvider(access, {
      url: input instanceof Request ? input.url : input,
      method: init?.method,
      headers: Object.fromEntries(new Headers(init?.headers)),
      body: init?.body,
      redirect: 'follow',
      signal,
      late,
    })
    return new Response(body.byteLength > 0 ? body : null, { status, headers })
  }
}

/** Throws the original error, which Octokit has wrapped. */
function rethrowCause(error: unknown): never {
  throw error instanceof Error && error.cause !== undefined ? error.cause : error
}
