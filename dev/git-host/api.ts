import { isJsonObject } from '../../src/base/json.ts'
import { HostError, type Pull, type Pulls } from './pulls.ts'
import { defaultBranch, findRepository, type Repository } from './repositories.ts'

export interface ApiRequest {
  method: string
  /** The path below `/api/v3`, without the query. */
  path: string
  query: URLSearchParams
  authenticated: boolean
  body: () => Promise<string>
}
export interface ApiAnswer {
  status: number
  body: unknown
}

interface Host {
  url: string
  data_dir: string
  user: string
  pulls: Pulls
}

/** Answers the part of GitHub's REST API that concerns repositories and pull requests. */
export async function answerApi(host: Host, request: ApiRequest): Promise<ApiAnswer> {
  try {
    return await route(host, request)
  } catch (error) {
    if (!(error instanceof HostError)) throw error
    return {
      status: error.status,
      body: { message: error.message, errors: error.errors, status: String(error.status) },
    }
  }
}

async function route(host: Host, request: ApiRequest): Promise<ApiAnswer> {
  const { method } = request
  if (request.path === '/user') return requireUser(request, { status: 200, body: { login: host.user, type: 'User' } })
  const match = /^\/repos\/([^/]+)\/([^/]+)(?:\/pulls(?:\/(\d+)(\/merge)?)?)?$/.exec(request.path)
  const [, owner = '', name = '', number, merge] = match ?? []
  const repository = match && (await findRepository(host.data_dir, decodeURIComponent(owner), decodeURIComponent(name)))
  if (!repository || (repository.private && !request.authenticated)) throw new HostError(404, 'Not Found')
  if (!request.path.includes('/pulls')) {
    if (method !== 'GET') throw new HostError(404, 'Not Found')
    return { status: 200, body: await describeRepository(host, repository) }
  }
  if (method !== 'GET') requireUser(request, null)
  if (merge)
    return method === 'PUT'
      ? mergePull(host, repository, Number(number), request)
      : pullMerged(host, repository, Number(number))
  if (number) return onePull(host, repository, Number(number), request)
  if (method === 'POST') return createPull(host, repository, request)
  const state = request.query.get('state') ?? 'open'
  const head = request.query.get('head')
  const pulls = (await host.pulls.list(repository)).filter(
    (pull) => (state === 'all' || pull.state === state) && (!head || head === `${repository.owner}:${pull.head}`),
  )
  return { status: 200, body: pulls.reverse().map((pull) => describe(host, repository, pull)) }
}

function requireUser<T>(request: ApiRequest, answer: T): T {
  if (!request.authenticated) throw new HostError(401, 'Requires authentication')
  return answer
}

async function json(request: ApiRequest): Promise<Record<string, unknown>> {
  const text = await request.body()
  if (text.trim() === '') return {}
  try {
    const value: unknown = JSON.parse(text)
    if (isJsonObject(value)) return value
  } catch {}
  throw new HostError(400, 'Problems parsing JSON')
}

const text = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)

async function createPull(host: Host, repository: Repository, request: ApiRequest): Promise<ApiAnswer> {
  const body = await json(request)
  const [title, head, base] = [text(body.title), text(body.head), text(body.base)]
  for (const [field, value] of Object.entries({ head, base }))
    if (value === undefined) throw new HostError(422, `Invalid request.\n\n"${field}" wasn't supplied.`)
  if (!title?.trim())
    throw new HostError(422, 'Validation Failed', [{ resource: 'PullRequest', code: 'missing_field', field: 'title' }])
  if (title.length > 256)
    throw new HostError(422, 'Validation Failed', [
      {
        resource: 'PullRequest',
        code: 'custom',
        field: 'title',
        message: 'title is too long (maximum is 256 characters)',
      },
    ])
  const prefix = `${repository.owner}:`
  const input = {
    title,
    head: head?.startsWith(prefix) ? head.slice(prefix.length) : (head ?? ''),
    base: base ?? '',
    body: text(body.body) ?? '',
    draft: body.draft === true,
  }
  const pull = await host.pulls.create(repository, input)
  return { status: 201, body: { ...describe(host, repository, pull), mergeable: null, mergeable_state: 'unknown' } }
}

async function onePull(host: Host, repository: Repository, number: number, request: ApiRequest): Promise<ApiAnswer> {
  let pull = await host.pulls.get(repository, number)
  if (!pull) throw new HostError(404, 'Not Found')
  if (request.method === 'PATCH') {
    if ((await json(request)).state !== 'closed') throw new HostError(422, 'Validation Failed')
    pull = (await host.pulls.close(repository, number)) ?? pull
  } else if (request.method !== 'GET') throw new HostError(404, 'Not Found')
  const mergeable = await host.pulls.mergeable(repository, pull)
  const mergeableState = mergeable === null ? 'unknown' : mergeable ? 'clean' : 'dirty'
  return { status: 200, body: { ...describe(host, repository, pull), mergeable, mergeable_state: mergeableState } }
}

async function mergePull(host: Host, repository: Repository, number: number, request: ApiRequest): Promise<ApiAnswer> {
  const body = await json(request)
  const method = text(body.merge_method) ?? 'merge'
  if (method !== 'merge')
    throw new HostError(405, `${method === 'squash' ? 'Squash' : 'Rebase'} merges are not allowed on this repository.`)
  const sha = await host.pulls.merge(repository, number, {
    sha: text(body.sha),
    title: text(body.commit_title),
    message: text(body.commit_message),
  })
  return { status: 200, body: { sha, merged: true, message: 'Pull Request successfully merged' } }
}

async function pullMerged(host: Host, repository: Repository, number: number): Promise<ApiAnswer> {
  const pull = await host.pulls.get(repository, number)
  if (!pull?.merged_at) throw new HostError(404, 'Not Found')
  return { status: 204, body: null }
}

async function describeRepository(host: Host, repository: Repository) {
  const fullName = `${repository.owner}/${repository.name}`
  return {
    name: repository.name,
    full_name: fullName,
    private: repository.private,
    owner: { login: repository.owner, type: 'Organization' },
    html_url: `${host.url}/${fullName}`,
    clone_url: `${host.url}/${fullName}.git`,
    default_branch: await defaultBranch(repository),
    allow_merge_commit: true,
    allow_squash_merge: false,
    allow_rebase_merge: false,
  }
}

function describe(host: Host, repository: Repository, pull: Pull) {
  const path = `${repository.owner}/${repository.name}`
  const side = (ref: string, sha: string) => ({ label: `${repository.owner}:${ref}`, ref, sha })
  return {
    id: pull.number,
    number: pull.number,
    state: pull.state,
    draft: pull.draft,
    title: pull.title,
    body: pull.body,
    user: { login: pull.user, type: 'User' },
    url: `${host.url}/api/v3/repos/${path}/pulls/${pull.number}`,
    html_url: `${host.url}/${path}/pull/${pull.number}`,
    created_at: pull.created_at,
    updated_at: pull.updated_at,
    closed_at: pull.closed_at,
    merged: pull.merged_at !== null,
    merged_at: pull.merged_at,
    merge_commit_sha: pull.merge_commit_sha,
    head: side(pull.head, pull.head_sha),
    base: side(pull.base, pull.base_sha),
  }
}
