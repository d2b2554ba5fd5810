import * as v from 'valibot'
import { readRepositoryPath, serverUrl } from '../repository/address.ts'
import { apiHeaders } from '../repository/sign-in.ts'
import {
  CREATE_LATE,
  createCalls,
  type HostFactory,
  MERGE_LATE,
  mergeErrors,
  orNull,
  pollUntilReady,
  pullNumber,
} from './host.ts'
import { azureMethod, azureReadiness, pullSchema, readEvaluations, readTarget } from './readiness/azure-devops.ts'
import { createOnce } from './repeat.ts'

const API_VERSION = '7.1-preview'
/** The oldest version with all of our calls: a server of one's own refuses versions that are newer than it. */
const SERVER_API_VERSION = '5.0-preview'
const MAX_DESCRIPTION = 4_000

const name = v.pipe(v.string(), v.minLength(1))
const createdSchema = v.object({ pullRequestId: pullNumber, status: v.string() })
const openSchema = v.object({
  value: v.array(v.object({ ...createdSchema.entries, sourceRefName: v.string(), targetRefName: v.string() })),
})
const connectionSchema = v.object({ authenticatedUser: v.object({ id: name }) })
const completionSchema = v.object({ status: v.optional(v.string()), mergeStatus: v.optional(v.string()) })

/** Client for Azure DevOps Services, or a server with the same paths. */
export const azureDevopsHost: HostFactory = (access, uri) => {
  const { git } = access
  const path = readRepositoryPath(git, uri).map(encodeURIComponent)
  const [within, , repo] = path.slice(-3)
  const org = path.slice(0, -3).join('/')
  const api = git.api_url || serverUrl(git)
  const project = `${api}/${org}/${within}`
  const pulls = `${project}/_apis/git/repositories/${repo}/pullrequests`
  const calls = createCalls(access, {
    api,
    headers: { ...apiHeaders(git), accept: 'application/json' },
    query: `?api-version=${git.base_url === '' ? API_VERSION : SERVER_API_VERSION}`,
  })
  return {
    maxDescription: MAX_DESCRIPTION,
    create: async ({ title, description, head, base }, signal) => {
      const refs = { sourceRefName: `refs/heads/${head}`, targetRefName: `refs/heads/${base}` }
      const json = { ...refs, title, description: description.slice(0, MAX_DESCRIPTION) }
      const call = calls(CREATE_LATE, signal)
      const answer = ({ pullRequestId: id, status }: v.InferOutput<typeof createdSchema>) => ({
        id,
        url: `${serverUrl(git)}/${org}/${within}/_git/${repo}/pullrequest/${id}`,
        status,
      })
      const query = new URLSearchParams({
        'searchCriteria.status': 'active',
        'searchCriteria.sourceRefName': refs.sourceRefName,
        'searchCriteria.targetRefName': refs.targetRefName,
      })
      return await createOnce(access, signal, {
        create: async () => answer(await call(createdSchema, 'POST', pulls, json)),
        find: async () => {
          const { value } = await call(openSchema, 'GET', `${pulls}?${query}`)
          const found = value.find(
            ({ sourceRefName, targetRefName }) =>
              sourceRefName === refs.sourceRefName && targetRefName === refs.targetRefName,
          )
          return found ? answer(found) : null
        },
      })
    },
    merge: async (number, { commit, confirm, signal }) => {
      const call = calls(MERGE_LATE, signal)
      const { assertAt, assertTarget, cannotBeMerged, notOpen, rethrowMoved } = mergeErrors(number, commit)
      const pull = `${pulls}/${number}`
      const readOpen = async () => {
        const read = await call(pullSchema, 'GET', pull)
        const { status, lastMergeSourceCommit } = read
        if (status === 'completed' && lastMergeSourceCommit.commitId === commit) return null
        if (status === 'completed' || status === 'abandoned') throw notOpen(status)
        assertAt(lastMergeSourceCommit.commitId)
        return read
      }
      // The branch is checked before the vote too, because a vote for unreviewed code would remain.
      if (commit !== undefined && !(await readOpen())) return 'merged_before'
      const connection = await call(connectionSchema, 'GET', `${api}/${org}/_apis/connectionData`)
      const { id } = connection.authenticatedUser
      await call(v.unknown(), 'PUT', `${pull}/reviewers/${encodeURIComponent(id)}`, { vote: 10, id })
      const read = await readOpen()
      if (!read) return 'merged_before'
      const target = await orNull(readTarget(call, pulls, read))
      assertTarget(target?.base, target?.defaultBranch)
      const evaluations = await orNull(readEvaluations(call, project, read, number))
      const chosen = azureMethod(evaluations, git.merge_method)
      await confirm()
      const json = {
        status: 'completed',
        lastMergeSourceCommit: { commitId: read.lastMergeSourceCommit.commitId },
        ...(chosen && { completionOptions: { mergeStrategy: chosen.strategy } }),
      }
      // The server merges in the background and may still fail, so the answer is polled until the merge is done.
      let next = () => call(completionSchema, 'PATCH', pull, json).catch(rethrowMoved)
      const completed = async () => {
        const { status, mergeStatus = '' } = await next()
        next = () => call(completionSchema, 'GET', pull)
        // An answer without status means that the server has accepted the request.
        if (status === 'completed' || status === undefined) return true
        if (status === 'abandoned') throw notOpen(status)
        if (['conflicts', 'rejectedByPolicy', 'failure'].includes(mergeStatus)) throw cannotBeMerged()
        return null
      }
      await pollUntilReady(completed, { number, seconds: access.readinessSeconds, signal })
      return 'merged'
    },
    readiness: (number, { commit, signal }) => {
      const at = { project, address: `${pulls}/${number}`, number }
      return azureReadiness(calls(MERGE_LATE, signal), at, { commit, preferred: git.merge_method })
    },
  }
}
