import * as v from 'valibot'
import { CREATE_LATE, callProvider, MERGE_LATE, ProviderRefusal, pageUrl, pullNumber, readAnswer } from './call.ts'
import { noOpenPullRequest } from './readiness.ts'
import { gitlabProject } from './repository-path.ts'
import type { HostFactory } from './types.ts'

const MAX_TITLE = 255
const MAX_DESCRIPTION = 1_048_576

const createdSchema = v.object({ iid: pullNumber, web_url: pageUrl, state: v.string() })
const stateSchema = v.object({ state: v.string() })
/** The status says that it is merged; only a contradiction in the body counts. */
const mergedSchema = v.object({ state: v.optional(v.literal('merged')) })

/** Merge requests at gitlab.com or at a server of one's own. */
export const gitlabHost: HostFactory = (access, uri) => {
  const { git } = access
  const { namespace, project } = gitlabProject(git, uri)
  const requests = `${git.api_url || `https://${git.host}/api/v4`}/projects/${encodeURIComponent(`${namespace}/${project}`)}/merge_requests`
  const headers = { 'private-token': git.token }
  return {
    maxDescription: MAX_DESCRIPTION,
    create: async ({ title, description, head, base }, signal) => {
      const json = {
        source_branch: head,
        target_branch: base,
        title: title.slice(0, MAX_TITLE),
        description: description.slice(0, MAX_DESCRIPTION),
      }
      const answer = await callProvider(access, {
        url: requests,
        method: 'POST',
        headers,
        json,
        signal,
        late: CREATE_LATE,
      })
      const { iid, web_url, state } = readAnswer(createdSchema, answer)
      return { id: iid, url: web_url, status: state }
    },
    merge: async (number, { confirm, signal }) => {
      const call = (method: string, action = '') =>
        callProvider(access, { url: `${requests}/${number}${action}`, method, headers, signal, late: MERGE_LATE })
      await call('POST', '/approve').catch(ignoreRefusedApproval)
      await confirm()
      const answer = await call('PUT', '/merge').catch(async (error: unknown) => {
        if (!refusedWith(error, 405)) throw error
        const { state } = readAnswer(stateSchema, await call('GET'))
        throw state === 'merged' || state === 'closed' ? noOpenPullRequest(number, state) : error
      })
      readAnswer(mergedSchema, answer)
    },
  }
}

/**
 * GitLab answers 401 to a second approval by the same account and where authors may not approve: a
 * merge that failed once could never be repeated. Whether it may be merged, the merge itself says.
 */
function ignoreRefusedApproval(error: unknown): void {
  if (!refusedWith(error, 401)) throw error
}

const refusedWith = (error: unknown, status: number): boolean =>
  error instanceof ProviderRefusal && error.providerStatus === status
