import { Octokit } from '@octokit/core'
import * as v from 'valibot'
import type { GitConfig } from '../../config/types.ts'
import type { Fetch } from '../base/http.ts'
import { readRepositoryPath, serverUrl } from '../repository/address.ts'
import { apiHeaders, isGithubApp } from '../repository/sign-in.ts'
import {
  CREATE_LATE,
  callProvider,
  checkAnswer,
  type HostAccess,
  type HostFactory,
  MERGE_LATE,
  mergeErrors,
  pageUrl,
  pollUntilReady,
  pullNumber,
  refusedWith,
} from './host.ts'
import { githubMethods, githubReadiness, pullSchema, refusesMethod, refusesMovedBase } from './readiness/github.ts'
import { createOnce } from './repeat.ts'

const MAX_DESCRIPTION = 65_536

const createdSchema = v.object({ number: pullNumber, html_url: pageUrl, state: v.string() })
const side = v.object({ ref: v.string() })
const openSchema = v.array(v.object({ ...createdSchema.entries, head: side, base: side }))
/** The HTTP status confirms the merge; `merged` may be absent, but must not contradict. */
const mergedSchema = v.object({ merged: v.optional(v.literal(true)) })

/** Most repetitions of a merge whose base branch moved while GitHub merged. */
const RETRIES = 3

const PULLS = '/repos/{owner}/{repo}/pulls'
const PULL = `${PULLS}/{pull_number}`

/** Client for GitHub or an Enterprise server, over the REST interface. */
export const githubHost: HostFactory = (access, uri) => {
  const [owner, repo] = readRepositoryPath(access.git, uri)
  const octokit = createOctokit(access)
  const calls =
    (late: string, signal: AbortSignal) =>
    async <Schema extends v.GenericSchema>(schema: Schema, route: string, parameters: object) => {
      const request = { signal, fetch: createOctokitFetch(access, signal, late) }
      const question = JSON.stringify([route, parameters])
      const earlier = access.known?.get(question)
      const headers = earlier ? { 'if-none-match': earlier.etag } : {}
      const asked = octokit.request(route, { owner, repo, ...parameters, headers, request })
      const answer = await asked.catch((error: unknown) => {
        if (error instanceof Error && 'status' in error && error.status === 304) return null
        return rethrowCause(error)
      })
      const checked = checkAnswer(schema, answer ? answer.data : earlier?.data)
      const { etag } = answer?.headers ?? {}
      if (etag !== undefined && route.startsWith('GET ')) access.known?.set(question, { etag, data: checked })
      return checked
    }
  return {
    maxDescription: MAX_DESCRIPTION,
    create: async ({ title, description, head, base }, signal) => {
      const call = calls(CREATE_LATE, signal)
      const body = description.slice(0, MAX_DESCRIPTION)
      const answer = ({ number, html_url, state }: v.InferOutput<typeof createdSchema>) => ({
        id: number,
        url: html_url,
        status: state,
      })
      return await createOnce(access, signal, {
        create: async () => answer(await call(createdSchema, `POST ${PULLS}`, { title, head, base, body })),
        find: async () => {
          const open = await call(openSchema, `GET ${PULLS}`, { state: 'open', head: `${owner}:${head}`, base })
          const found = open.find((pull) => pull.head.ref === head && pull.base.ref === base)
          return found ? answer(found) : null
        },
      })
    },
    merge: async (number, { commit, confirm, signal }) => {
      const call = calls(MERGE_LATE, signal)
      const { assertAt, assertTarget, cannotBeMerged, notOpen, rethrowMoved } = mergeErrors(number, commit)
      const readMergeable = async () => {
        const pull = await call(pullSchema, `GET ${PULL}`, { pull_number: number })
        if (pull.merged && commit !== undefined && pull.head?.sha === commit) return { ...pull, isDone: true }
        if (pull.state === 'closed') throw notOpen(pull.merged ? 'merged' : 'closed')
        assertAt(pull.head?.sha)
        return pull.mergeable === null ? null : { ...pull, isDone: false }
      }
      const waitUntilReady = () => pollUntilReady(readMergeable, { number, seconds: access.readinessSeconds, signal })
      let pull = await waitUntilReady()
      const permitted = pull.mergeable ? await githubMethods(call, pull.base?.ref, access.git.merge_method) : null
      if (!pull.isDone) assertTarget(pull.base?.ref, permitted?.defaultBranch)
      const methods = permitted?.methods ?? []
      for (let retries = 0; !pull.isDone; ) {
        if (!pull.mergeable) throw cannotBeMerged()
        await confirm()
        const [method] = methods
        const named = { ...(commit && { sha: commit }), ...(method !== 'merge' && { merge_method: method }) }
        const error: unknown = await call(mergedSchema, `PUT ${PULL}/merge`, { pull_number: number, ...named }).then(
          () => null,
          (reason: unknown) => reason,
        )
        if (error === null) return 'merged'
        const text = error instanceof Error && refusedWith(error, 405) ? error.message : ''
        if (refusesMethod(text) && methods.length > 1) methods.shift()
        else if (refusesMovedBase(text) && retries++ < RETRIES) pull = await waitUntilReady()
        else rethrowMoved(error)
      }
      return 'merged_before'
    },
    readiness: (number, { commit, signal }) =>
      githubReadiness(calls(MERGE_LATE, signal), number, {
        commit,
        preferred: access.git.merge_method,
        isApp: isGithubApp(access.git),
      }),
  }
}

/** GitHub and its subdomains for companies (`<name>.ghe.com`) have the interface on a host of its own. */
const apiOf = (git: GitConfig): string =>
  git.api_url ||
  (/^(github|[a-z0-9-]+\.ghe)\.com$/i.test(git.host) ? `https://api.${git.host}` : `${serverUrl(git)}/api/v3`)

function createOctokit({ git }: HostAccess): Octokit {
  const octokit = new Octokit({ baseUrl: apiOf(git), request: { log: { warn: () => {} } } })
  octokit.hook.before('request', (options) => {
    options.headers.accept = 'application/vnd.github+json'
    options.headers['x-github-api-version'] = '2022-11-28'
    Object.assign(options.headers, apiHeaders(git))
  })
  return octokit
}

/**
 * Creates the `fetch` for Octokit, which has no limit and accepts truncated bodies: bodies are read completely and
 * within a limit.
 */
function createOctokitFetch(access: HostAccess, signal: AbortSignal, late: string): Fetch {
  return async (input, init) => {
    const request = {
      url: input instanceof Request ? input.url : input,
      method: init?.method,
      headers: Object.fromEntries(new Headers(init?.headers)),
      body: init?.body,
      api: apiOf(access.git),
      signal,
    } as const
    const { status, headers, body } = await callProvider(access, request, late)
    return new Response(body.byteLength > 0 ? body : null, { status, headers })
  }
}

/** Throws the original error, which Octokit has wrapped. */
function rethrowCause(error: unknown): never {
  throw error instanceof Error && error.cause !== undefined ? error.cause : error
}
