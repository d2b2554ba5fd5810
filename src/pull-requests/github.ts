import * as v from 'valibot'
import { basicAuthorization } from '../base/http.ts'
import {
  CREATE_LATE,
  createCalls,
  type HostFactory,
  MERGE_LATE,
  mergeErrors,
  pageUrl,
  pollUntilReady,
  pullNumber,
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
  const { git } = access
  const { owner, repo } = parseGithubRepository(git, uri)
  const api = git.api_url || (git.host === 'github.com' ? 'https://api.github.com' : `https://${git.host}/api/v3`)
  const pulls = `${api}/repos/${encodeURIComponent(owner)}/${encodeURIComponent(repo)}/pulls`
  const calls = createCalls(access, {
    headers: {
      accept: 'application/vnd.github+json',
      authorization: basicAuthorization(git.user, git.token),
      // GitHub refuses requests that do not name their client.
      'user-agent': 'platform',
      'x-github-api-version': '2022-11-28',
    },
    // GitHub redirects renamed repositories.
    redirect: 'follow',
  })
  return {
    maxDescription: MAX_DESCRIPTION,
    create: async ({ title, description, head, base }, signal) => {
      const call = calls(CREATE_LATE, signal)
      const json = { title, head, base, body: description.slice(0, MAX_DESCRIPTION) }
      const { number, html_url, state } = await call(createdSchema, 'POST', pulls, json)
      return { id: number, url: html_url, status: state }
    },
    merge: async (number, { commit, confirm, signal }) => {
      const call = calls(MERGE_LATE, signal)
      const { assertAt, cannotBeMerged, notOpen, rethrowMoved } = mergeErrors(number, commit)
      const readMergeable = async () => {
        const pull = await call(pullSchema, 'GET', `${pulls}/${number}`)
        if (pull.state === 'closed') throw notOpen(pull.merged ? 'merged' : 'closed')
        assertAt(pull.head?.sha)
        return pull.mergeable
      }
      const mergeable = await pollUntilReady(readMergeable, { number, seconds: access.readinessSeconds, signal })
      if (!mergeable) throw cannotBeMerged()
      await confirm()
      await call(mergedSchema, 'PUT', `${pulls}/${number}/merge`, commit && { sha: commit }).catch(rethrowMoved)
    },
  }
}
