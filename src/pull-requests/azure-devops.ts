import * as v from 'valibot'
import { basicAuthorization, type OutboundResponse } from '../base/http.ts'
import {
  assertAt,
  CREATE_LATE,
  callProvider,
  cannotBeMerged,
  type HostFactory,
  MERGE_LATE,
  noOpenPullRequest,
  pollUntilReady,
  pullNumber,
  readAnswer,
  rethrowMoved,
} from './host.ts'
import { parseAzureRepository } from './repository-path.ts'

const API_VERSION = '7.1-preview'
const MAX_DESCRIPTION = 4_000

const name = v.pipe(v.string(), v.minLength(1))
const createdSchema = v.object({ pullRequestId: pullNumber, status: v.string() })
const connectionSchema = v.object({ authenticatedUser: v.object({ id: name }) })
const pullSchema = v.object({ status: v.optional(v.string()), lastMergeSourceCommit: v.object({ commitId: name }) })
const completionSchema = v.object({ status: v.optional(v.string()), mergeStatus: v.optional(v.string()) })

/** Client for Azure DevOps Services, or a server with the same paths. */
export const azureDevopsHost: HostFactory = (access, uri) => {
  const { git } = access
  const { organization, project, repository } = parseAzureRepository(git, uri)
  const [org, within, repo] = [organization, project, repository].map(encodeURIComponent)
  const api = git.api_url || `https://${git.host}`
  const pulls = `${api}/${org}/${within}/_apis/git/repositories/${repo}/pullrequests`
  const headers = { authorization: basicAuthorization('', git.token), accept: 'application/json' }
  const call = (late: string, signal: AbortSignal, method: string, address: string, json?: unknown) =>
    callProvider(access, { url: `${address}?api-version=${API_VERSION}`, method, headers, json, signal, late })

  return {
    maxDescription: MAX_DESCRIPTION,
    create: async ({ title, description, head, base }, signal) => {
      const refs = { sourceRefName: `refs/heads/${head}`, targetRefName: `refs/heads/${base}` }
      const json = { ...refs, title, description: description.slice(0, MAX_DESCRIPTION) }
      const { pullRequestId, status } = readAnswer(createdSchema, await call(CREATE_LATE, signal, 'POST', pulls, json))
      return {
        id: pullRequestId,
        url: `https://${git.host}/${org}/${within}/_git/${repo}/pullrequest/${pullRequestId}`,
        status,
      }
    },
    merge: async (number, { commit, confirm, signal }) => {
      const pull = `${pulls}/${number}`
      const ask = (method: string, address: string, json?: unknown) => call(MERGE_LATE, signal, method, address, json)
      const readOpen = async () => {
        const { status, lastMergeSourceCommit } = readAnswer(pullSchema, await ask('GET', pull))
        if (status === 'completed' || status === 'abandoned') throw noOpenPullRequest(number, status)
        assertAt(number, lastMergeSourceCommit.commitId, commit)
        return lastMergeSourceCommit.commitId
      }
      // The branch is checked before the vote too, because a vote for unreviewed code would remain.
      if (commit !== undefined) await readOpen()
      const { id } = readAnswer(
        connectionSchema,
        await ask('GET', `${api}/${org}/_apis/connectionData`),
      ).authenticatedUser
      await ask('PUT', `${pull}/reviewers/${encodeURIComponent(id)}`, { vote: 10, id })
      const commitId = await readOpen()
      await confirm()
      const json = { status: 'completed', lastMergeSourceCommit: { commitId } }
      // The server merges in the background and may still fail, so the answer is polled until the merge is done.
      let answer: OutboundResponse | null = await ask('PATCH', pull, json).catch((error: unknown) =>
        rethrowMoved(number, commit, error),
      )
      const completed = async () => {
        const current = readAnswer(completionSchema, answer ?? (await ask('GET', pull)))
        answer = null
        return isCompleted(number, current) || null
      }
      await pollUntilReady(completed, { number, seconds: access.readinessSeconds, signal })
    },
  }
}

function isCompleted(number: number, pull: v.InferOutput<typeof completionSchema>): boolean {
  // An answer without status means that the server has accepted the request.
  if (pull.status === 'completed' || pull.status === undefined) return true
  if (pull.status === 'abandoned') throw noOpenPullRequest(number, pull.status)
  if (['conflicts', 'rejectedByPolicy', 'failure'].includes(pull.mergeStatus ?? '')) throw cannotBeMerged(number)
  return false
}
