import * as v from 'valibot'
import { readRepositoryPath, serverUrl } from '../repository/address.ts'
import {
  CREATE_LATE,
  createCalls,
  type HostFactory,
  MERGE_LATE,
  mergeErrors,
  pageUrl,
  pullNumber,
  refusedWith,
} from './host.ts'
import { createOnce } from './repeat.ts'

const MAX_DESCRIPTION = 1_048_576

const createdSchema = v.object({ iid: pullNumber, web_url: pageUrl, state: v.string() })
const openSchema = v.array(v.object({ ...createdSchema.entries, source_branch: v.string(), target_branch: v.string() }))
const stateSchema = v.object({ state: v.string() })
/** The HTTP status confirms the merge; `state` may be absent, but must not contradict. */
const mergedSchema = v.object({ state: v.optional(v.literal('merged')) })

/** Client for gitlab.com or a self-hosted server. */
export const gitlabHost: HostFactory = (access, uri) => {
  const { git } = access
  const api = git.api_url || `${serverUrl(git)}/api/v4`
  const requests = `${api}/projects/${encodeURIComponent(readRepositoryPath(git, uri).join('/'))}/merge_requests`
  const calls = createCalls(access, { headers: { 'private-token': git.token } })
  return {
    maxDescription: MAX_DESCRIPTION,
    create: async ({ title, description, head, base }, signal) => {
      const json = {
        source_branch: head,
        target_branch: base,
        title: title.slice(0, 255),
        description: description.slice(0, MAX_DESCRIPTION),
      }
      const call = calls(CREATE_LATE, signal)
      const answer = ({ iid, web_url, state }: v.InferOutput<typeof createdSchema>) => ({
        id: iid,
        url: web_url,
        status: state,
      })
      const query = new URLSearchParams({ state: 'opened', source_branch: head, target_branch: base })
      return await createOnce(access, signal, {
        create: async () => answer(await call(createdSchema, 'POST', requests, json)),
        find: async () => {
          const open = await call(openSchema, 'GET', `${requests}?${query}`)
          const found = open.find(
            ({ source_branch, target_branch }) => source_branch === head && target_branch === base,
          )
          return found ? answer(found) : null
        },
      })
    },
    merge: async (number, { commit, confirm, signal }) => {
      const call = calls(MERGE_LATE, signal)
      const { notOpen, rethrowMoved } = mergeErrors(number, commit)
      const request = `${requests}/${number}`
      // Approval and merge name the commit; GitLab answers 409 when the branch is at another one.
      const named = commit === undefined ? undefined : { sha: commit }
      await call(v.unknown(), 'POST', `${request}/approve`, named).catch((error: unknown) => {
        // GitLab answers 401 to repeated approvals and where authors may not approve; throwing it would prevent a
        // retried merge. GitLab itself refuses a merge without a required approval.
        if (!refusedWith(error, 401)) rethrowMoved(error)
      })
      await confirm()
      await call(mergedSchema, 'PUT', `${request}/merge`, named).catch(async (error: unknown) => {
        if (!refusedWith(error, 405)) return rethrowMoved(error)
        const { state } = await call(stateSchema, 'GET', request)
        throw state === 'merged' || state === 'closed' ? notOpen(state) : error
      })
    },
  }
}
