import * as v from 'valibot'
import type { OutboundResponse } from '../base/http.ts'
import { CREATE_LATE, callProvider, MERGE_LATE, pullNumber, readAnswer } from './call.ts'
import { basicAuthorization } from './credentials.ts'
import { cannotBeMerged, noOpenPullRequest, untilReady } from './readiness.ts'
import { azureRepository } from './repository-path.ts'
import type { HostFactory } from './types.ts'

const API_VERSION = '7.1-preview'
const MAX_DESCRIPTION = 4_000

const name = v.pipe(v.string(), v.minLength(1))
const createdSchema = v.object({ pullRequestId: pullNumber, status: v.string() })
const connectionSchema = v.object({ authenticatedUser: v.object({ id: name }) })
const pullSchema = v.object({ status: v.optional(v.string()), lastMergeSourceCommit: v.object({ commitId: name }) })
const completionSchema = v.object({ status: v.optional(v.string()), mergeStatus: v.optional(v.string()) })

/** Azure DevOps Services, or a server with the same addresses. */
export const azureDevopsHost: HostFactory = (access, uri) => {
  const { git } = access
  const { organization, project, repository } = azureRepository(git, uri)
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
    merge: async (number, { confirm, signal }) => {
      const pull = `${pulls}/${number}`
      const ask = (method: string, address: string, json?: unknown) => call(MERGE_LATE, signal, method, address, json)
      const { id } = readAnswer(
        connectionSchema,
        await ask('GET', `${api}/${org}/_apis/connectionData`),
      ).authenticatedUser
      await ask('PUT', `${pull}/reviewers/${encodeURIComponent(id)}`, { vote: 10, id })
      const { status, lastMergeSourceCommit } = readAnswer(pullSchema, await ask('GET', pull))
      if (status === 'completed' || status === 'abandoned') throw noOpenPullRequest(number, status)
      await confirm()
      const { commitId } = lastMergeSourceCommit
      const json = { status: 'completed', lastMergeSourceCommit: { commitId } }
      // The merge itself runs in the background and may still fail.
      let answer: OutboundResponse | null = await ask('PATCH', pull, json)
      const completed = async () => {
        const current = readAnswer(completionSchema, answer ?? (await ask('GET', pull)))
        answer = null
        return isCompleted(number, current) || null
      }
      await untilReady(completed, { number, seconds: access.readinessSeconds, signal })
    },
  }
}

function isCompleted(number: number, pull: v.InferOutput<typeof completionSchema>): boolean {
  // A server that tells no status has accepted the completion, and nothing more can be learnt.
  if (pull.status === 'completed' || pull.status === undefined) return true
  if (pull.status === 'abandoned') throw noOpenPullRequest(number, pull.status)
  if (['conflicts', 'rejectedByPolicy', 'failure'].includes(pull.mergeStatus ?? '')) throw cannotBeMerged(number)
  return false
}
