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
  pageUrl,
  pollUntilReady,
  pullNumber,
  refusedWith,
} from './host.ts'
import {
  gitlabMethod,
  gitlabReadiness,
  isComputing,
  isMergeable,
  readProject,
  requestSchema,
} from './readiness/gitlab.ts'
import { createOnce } from './repeat.ts'

const MAX_DESCRIPTION = 1_048_576

const createdSchema = v.object({ iid: pullNumber, web_url: pageUrl, state: v.string() })
const openSchema = v.array(v.object({ ...createdSchema.entries, source_branch: v.string(), target_branch: v.string() }))
/** The HTTP status confirms the merge; `state` may be absent, but must not contradict. */
const mergedSchema = v.object({ state: v.optional(v.literal('merged')) })

const identitySchema = v.object({ id: v.pipe(v.number(), v.integer()) })

/** GitLab redirects readings of a project that was moved, and refuses changes: they then name its number. */
function followMoves(calls: ReturnType<typeof createCalls>, project: string): ReturnType<typeof createCalls> {
  let current = project
  return (late, signal) => {
    const call = calls(late, signal)
    return async (schema, method, url, json) => {
      const address = () => url.replace(project, current)
      return await call(schema, method, address(), json).catch(async (error: unknown) => {
        if (!refusedWith(error, 405) || !(error instanceof Error && /moved projects/i.test(error.message))) throw error
        const { id } = await call(identitySchema, 'GET', project)
        current = `${project.slice(0, project.lastIndexOf('/'))}/${id}`
        return await call(schema, method, address(), json)
      })
    }
  }
}

/** Client for gitlab.com or a self-hosted server. */
export const gitlabHost: HostFactory = (access, uri) => {
  const { git } = access
  const api = git.api_url || `${serverUrl(git)}/api/v4`
  const project = `${api}/projects/${encodeURIComponent(readRepositoryPath(git, uri).join('/'))}`
  const requests = `${project}/merge_requests`
  const calls = followMoves(createCalls(access, { api, headers: apiHeaders(git) }), project)
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
      const { assertTarget, notOpen, rethrowMoved } = mergeErrors(number, commit)
      const request = `${requests}/${number}`
      const settings = await orNull(readProject(call, project))
      if (settings?.default_branch) {
        const before = await orNull(call(requestSchema, 'GET', request))
        if (before?.state === 'opened') assertTarget(before.target_branch, settings.default_branch)
      }
      const squash = settings
        ? gitlabMethod(settings, git.merge_method).squash
        : git.merge_method === 'squash' || undefined
      // Approval and merge name the commit; GitLab answers 409 when the branch is at another one.
      const named = commit === undefined ? undefined : { sha: commit }
      await call(v.unknown(), 'POST', `${request}/approve`, named).catch((error: unknown) => {
        // GitLab answers 401 to repeated approvals and where authors may not approve; throwing it would prevent a
        // retried merge. GitLab itself refuses a merge without a required approval.
        if (!refusedWith(error, 401)) rethrowMoved(error)
      })
      const merge = async () => {
        await confirm()
        const json = squash === undefined ? named : { ...named, squash }
        await call(mergedSchema, 'PUT', `${request}/merge`, json)
      }
      /** Reads the request when GitLab has computed whether it can be merged. */
      const readComputed = async () => {
        const pull = await call(requestSchema, 'GET', request)
        return pull.state === 'opened' && isComputing(pull) ? null : pull
      }
      const error: unknown = await merge().then(
        () => null,
        (reason: unknown) => reason,
      )
      if (error === null) return 'merged'
      if (!refusedWith(error, 405)) return rethrowMoved(error)
      // GitLab answers 405 also to what is merged, closed, or not computed yet.
      const pull = await pollUntilReady(readComputed, { number, seconds: access.readinessSeconds, signal })
      if (pull.state === 'merged' && commit !== undefined && pull.sha === commit) return 'merged_before'
      if (pull.state === 'merged' || pull.state === 'closed') throw notOpen(pull.state)
      if (!isMergeable(pull)) throw error
      await merge().catch(rethrowMoved)
      return 'merged'
    },
    readiness: (number, { commit, signal }) => {
      const at = { project, address: `${requests}/${number}` }
      return gitlabReadiness(calls(MERGE_LATE, signal), at, { commit, preferred: git.merge_method })
    },
  }
}
