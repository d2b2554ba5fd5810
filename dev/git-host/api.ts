import { Hono } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import { createMiddleware } from 'hono/factory'
import { isJsonObject } from '../../src/base/json.ts'
import { type HostEnv, HostError, type Pull, type Site } from './pulls.ts'
import { defaultBranch, findRepository, type Repository } from './repositories.ts'

const MAX_BODY = 1_048_576

type ApiEnv = HostEnv & { Variables: { repository: Repository } }

/** Routes of GitHub's REST API that concern repositories and pull requests. */
export function createApi(site: Site) {
  const app = new Hono<ApiEnv>()
  app.onError((error, c) => {
    if (!(error instanceof HostError)) throw error
    const { status, message, errors } = error
    return c.json({ message, errors, status: String(status) }, status)
  })
  app.use(bodyLimit({ maxSize: MAX_BODY }))
  app.get('/user', requireUser, (c) => c.json({ login: site.user, type: 'User' }))

  const repository = '/repos/:owner/:name'
  app.use(`${repository}/*`, async (c, next) => {
    const found = await findRepository(site.data_dir, c.req.param('owner'), c.req.param('name'))
    if (!found || (found.private && !c.var.authenticated)) throw new HostError(404, 'Not Found')
    c.set('repository', found)
    await next()
  })
  app.get(repository, async (c) => c.json(await describeRepository(site, c.var.repository)))

  const pulls = `${repository}/pulls` as const
  app.get(pulls, async (c) => {
    const { state = 'open', head } = c.req.query()
    const { owner } = c.var.repository
    const found = (await site.pulls.list(c.var.repository)).filter(
      (pull) => (state === 'all' || pull.state === state) && (!head || head === `${owner}:${pull.head}`),
    )
    return c.json(found.reverse().map((pull) => describe(site, c.var.repository, pull)))
  })
  app.post(pulls, requireUser, async (c) => {
    const input = readNewPull(readJson(await c.req.text()), c.var.repository.owner)
    const pull = await site.pulls.create(c.var.repository, input)
    return c.json({ ...describe(site, c.var.repository, pull), mergeable: null, mergeable_state: 'unknown' }, 201)
  })

  const pull = `${pulls}/:number{[0-9]+}` as const
  app.get(pull, async (c) => {
    const found = await site.pulls.get(c.var.repository, Number(c.req.param('number')))
    return c.json(await describeWithState(site, c.var.repository, found))
  })
  app.patch(pull, requireUser, async (c) => {
    const number = Number(c.req.param('number'))
    if (!(await site.pulls.get(c.var.repository, number))) throw new HostError(404, 'Not Found')
    if (readJson(await c.req.text()).state !== 'closed') throw new HostError(422, 'Validation Failed')
    return c.json(await describeWithState(site, c.var.repository, await site.pulls.close(c.var.repository, number)))
  })
  app.get(`${pull}/merge`, async (c) => {
    const found = await site.pulls.get(c.var.repository, Number(c.req.param('number')))
    if (!found?.merged_at) throw new HostError(404, 'Not Found')
    return c.body(null, 204)
  })
  app.put(`${pull}/merge`, requireUser, async (c) => {
    const body = readJson(await c.req.text())
    const method = text(body.merge_method) ?? 'merge'
    if (method !== 'merge')
      throw new HostError(
        405,
        `${method === 'squash' ? 'Squash' : 'Rebase'} merges are not allowed on this repository.`,
      )
    const sha = await site.pulls.merge(c.var.repository, Number(c.req.param('number')), {
      sha: text(body.sha),
      title: text(body.commit_title),
      message: text(body.commit_message),
    })
    return c.json({ sha, merged: true, message: 'Pull Request successfully merged' })
  })
  app.all('*', () => {
    throw new HostError(404, 'Not Found')
  })
  return app
}

const requireUser = createMiddleware<HostEnv>(async (c, next) => {
  if (!c.var.authenticated) throw new HostError(401, 'Requires authentication')
  await next()
})

function readJson(body: string): Record<string, unknown> {
  if (body.trim() === '') return {}
  try {
    const value: unknown = JSON.parse(body)
    if (isJsonObject(value)) return value
  } catch {}
  throw new HostError(400, 'Problems parsing JSON')
}

const text = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)

function readNewPull(body: Record<string, unknown>, owner: string) {
  const [title, head, base] = [text(body.title), text(body.head), text(body.base)]
  if (head === undefined || base === undefined)
    throw new HostError(422, `Invalid request.\n\n"${head === undefined ? 'head' : 'base'}" wasn't supplied.`)
  const invalid = (error: object) =>
    new HostError(422, 'Validation Failed', [{ resource: 'PullRequest', field: 'title', ...error }])
  if (!title?.trim()) throw invalid({ code: 'missing_field' })
  if (title.length > 256) throw invalid({ code: 'custom', message: 'title is too long (maximum is 256 characters)' })
  const branch = head.startsWith(`${owner}:`) ? head.slice(owner.length + 1) : head
  return { title, head: branch, base, body: text(body.body) ?? '', draft: body.draft === true }
}

async function describeRepository({ url }: Site, repository: Repository) {
  const fullName = `${repository.owner}/${repository.name}`
  return {
    name: repository.name,
    full_name: fullName,
    private: repository.private,
    owner: { login: repository.owner, type: 'Organization' },
    html_url: `${url}/${fullName}`,
    clone_url: `${url}/${fullName}.git`,
    default_branch: await defaultBranch(repository),
    allow_merge_commit: true,
    allow_squash_merge: false,
    allow_rebase_merge: false,
  }
}

async function describeWithState(site: Site, repository: Repository, pull: Pull | null) {
  if (!pull) throw new HostError(404, 'Not Found')
  const mergeable = await site.pulls.mergeable(repository, pull)
  const state = mergeable === null ? 'unknown' : mergeable ? 'clean' : 'dirty'
  return { ...describe(site, repository, pull), mergeable, mergeable_state: state }
}

function describe({ url }: Site, repository: Repository, pull: Pull) {
  const path = `${repository.owner}/${repository.name}`
  const side = (ref: string, sha: string) => ({ label: `${repository.owner}:${ref}`, ref, sha })
  const { head_sha, base_sha, head, base, user, ...fields } = pull
  return {
    ...fields,
    id: pull.number,
    user: { login: user, type: 'User' },
    url: `${url}/api/v3/repos/${path}/pulls/${pull.number}`,
    html_url: `${url}/${path}/pull/${pull.number}`,
    merged: pull.merged_at !== null,
    head: side(head, head_sha),
    base: side(base, base_sha),
  }
}
