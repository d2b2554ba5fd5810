import { join } from 'node:path'
import type { HttpBindings } from '@hono/node-server'
import { Hono } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import { createMiddleware } from 'hono/factory'
import { isJsonObject, parseJson } from '../../src/base/json.ts'
import { createKeyedLock, readText, withTemporaryFolder, writeAtomically } from '../files.ts'
import type { Disturbance } from './disturbances.ts'
import { branchCommit, findRepository, git, gitOrThrow, type Repository } from './repositories.ts'

export interface Pull {
  number: number
  title: string
  body: string
  head: string
  base: string
  state: 'open' | 'closed'
  user: string
  created_at: string
  closed_at: string | null
  merged_at: string | null
  merge_commit_sha: string | null
  /** Commits of both branches when the pull request was closed. While it is open, the branches have them. */
  head_sha: string
  base_sha: string
}

/** The host, as its routes see it. The address is known once it listens. */
export interface Site {
  url: string
  data_dir: string
  user: string
  token: string
}
export type HostEnv = {
  Bindings: HttpBindings
  Variables: { authenticated: boolean; disturbance: Disturbance | undefined }
}
type ApiEnv = HostEnv & { Variables: { repository: Repository } }

/** An answer of the REST API with a status other than 2xx. */
class HostError extends Error {
  readonly status: 400 | 401 | 404 | 405 | 409 | 422
  readonly errors: object[] | undefined
  constructor(status: HostError['status'], message: string, errors?: object[]) {
    super(message)
    this.status = status
    this.errors = errors
  }
}

const notFound = () => new HostError(404, 'Not Found')
const notMergeable = () => new HostError(405, 'Pull Request is not mergeable')
const invalid = (error: object) => new HostError(422, 'Validation Failed', [{ resource: 'PullRequest', ...error }])

/** Makes GitHub's routes to open, read and merge pull requests. Each repository has a JSON file with its own. */
export function createApi(site: Site) {
  const locked = createKeyedLock()
  const change = <T>(repository: Repository, task: (pulls: Pull[]) => Promise<T>): Promise<T> =>
    locked(repository.path, async () => {
      const pulls = await listPulls(repository)
      const result = await task(pulls)
      await writeAtomically(store(repository), JSON.stringify(pulls, null, 1))
      return result
    })
  const app = new Hono<ApiEnv>()
  app.onError((error, c) => {
    if (!(error instanceof HostError)) throw error
    const { status, message, errors } = error
    return c.json({ message, errors, status: String(status) }, status)
  })
  app.use(bodyLimit({ maxSize: 1_048_576 }))
  app.use('/repos/:owner/:name/*', async (c, next) => {
    const found = await findRepository(site.data_dir, c.req.param('owner'), c.req.param('name'))
    if (!found || (found.private && !c.var.authenticated)) throw notFound()
    c.set('repository', found)
    await next()
  })
  const pulls = '/repos/:owner/:name/pulls' as const
  app.post(pulls, requireUser, async (c) => {
    const { repository } = c.var
    const input = readNewPull(readJson(await c.req.text()), repository.owner)
    const pull = await change(repository, async (all) => {
      const commits = await checkBranches(repository, all, input)
      const times = { created_at: secondsOf(new Date()), closed_at: null, merged_at: null, merge_commit_sha: null }
      const opened: Pull = { ...input, number: all.length + 1, state: 'open', user: site.user, ...times, ...commits }
      all.push(opened)
      return opened
    })
    return c.json({ ...describe(site, repository, pull), mergeable: null, mergeable_state: 'unknown' }, 201)
  })
  app.get(pulls, async (c) => {
    const { repository } = c.var
    const { state = 'open', head, base } = c.req.query()
    const fits = (pull: Pull) =>
      (state === 'all' || pull.state === state) &&
      (head === undefined || head === `${repository.owner}:${pull.head}`) &&
      (base === undefined || base === pull.base)
    const found = (await listPulls(repository)).filter(fits).toReversed().slice(0, 30)
    return c.json(found.map((pull) => describe(site, repository, pull)))
  })
  app.get(`${pulls}/:number{[0-9]+}`, async (c) => {
    const { repository } = c.var
    const pull = await findPull(repository, Number(c.req.param('number')))
    if (!pull) throw notFound()
    const mergeable =
      pull.state === 'closed' ? null : (await tryMerge(repository, pull, { message: 'Trial merge' })) !== null
    const mergeable_state = mergeable === null ? 'unknown' : mergeable ? 'clean' : 'dirty'
    return c.json({ ...describe(site, repository, pull), mergeable, mergeable_state })
  })
  app.put(`${pulls}/:number{[0-9]+}/merge`, requireUser, async (c) => {
    const { repository } = c.var
    const { sha: expected } = readJson(await c.req.text())
    const sha = await change(repository, async (all) => {
      const pull = all.find(({ number }) => number === Number(c.req.param('number')))
      if (!pull) throw notFound()
      if (pull.state === 'closed') throw notMergeable()
      if (expected !== undefined && expected !== pull.head_sha)
        throw new HostError(409, 'Head branch was modified. Review and try the merge again.')
      const message = `Merge pull request #${pull.number} from ${repository.owner}/${pull.head}\n\n${pull.title}`
      const merged = await tryMerge(repository, pull, { message, push: true })
      if (!merged) throw notMergeable()
      pull.state = 'closed'
      pull.merged_at = pull.closed_at = secondsOf(new Date())
      pull.merge_commit_sha = merged
      return merged
    })
    return c.json({ sha, merged: true, message: 'Pull Request successfully merged' })
  })
  app.all('*', () => {
    throw notFound()
  })
  return app
}

const requireUser = createMiddleware<HostEnv>(async (c, next) => {
  if (!c.var.authenticated) throw new HostError(401, 'Requires authentication')
  await next()
})

const store = (repository: Repository) => join(repository.path, 'platform-pulls.json')

const secondsOf = (time: Date): string => time.toISOString().replace(/\.\d+Z$/, 'Z')

/** Lists the pull requests of a repository, the oldest first. */
export async function listPulls(repository: Repository): Promise<Pull[]> {
  const pulls = JSON.parse((await readText(store(repository))) ?? '[]') as Pull[]
  return Promise.all(
    pulls.map(async (pull) => {
      if (pull.state === 'closed') return pull
      const { head_sha, base_sha } = await commitsOf(repository, pull)
      return { ...pull, head_sha: head_sha ?? pull.head_sha, base_sha: base_sha ?? pull.base_sha }
    }),
  )
}

export const findPull = async (repository: Repository, number: number): Promise<Pull | null> =>
  (await listPulls(repository)).find((pull) => pull.number === number) ?? null

async function commitsOf(repository: Repository, { head, base }: Pick<Pull, 'head' | 'base'>) {
  const [head_sha, base_sha] = await Promise.all([branchCommit(repository, head), branchCommit(repository, base)])
  return { head_sha, base_sha }
}

function readJson(body: string): Record<string, unknown> {
  const value = body.trim() === '' ? {} : parseJson(body)
  if (isJsonObject(value)) return value
  throw new HostError(400, 'Problems parsing JSON')
}

const text = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)

function readNewPull(body: Record<string, unknown>, owner: string) {
  const [title, head, base] = [text(body.title), text(body.head), text(body.base)]
  if (head === undefined || base === undefined)
    throw new HostError(422, `Invalid request.\n\n"${head === undefined ? 'head' : 'base'}" wasn't supplied.`)
  if (!title?.trim()) throw invalid({ field: 'title', code: 'missing_field' })
  if (title.length > 256)
    throw invalid({ field: 'title', code: 'custom', message: 'title is too long (maximum is 256 characters)' })
  const branch = head.startsWith(`${owner}:`) ? head.slice(owner.length + 1) : head
  return { title, head: branch, base, body: text(body.body) ?? '' }
}

/** Checks that the branches can be merged. Errors: `HostError` 422, with the reasons that GitHub gives. */
async function checkBranches(repository: Repository, pulls: Pull[], input: Pick<Pull, 'head' | 'base'>) {
  const { head_sha, base_sha } = await commitsOf(repository, input)
  if (!base_sha) throw invalid({ field: 'base', code: 'invalid' })
  if (!head_sha) throw invalid({ field: 'head', code: 'invalid' })
  if (pulls.some((pull) => pull.state === 'open' && pull.head === input.head && pull.base === input.base))
    throw invalid({ code: 'custom', message: `A pull request already exists for ${repository.owner}:${input.head}.` })
  const ahead = await gitOrThrow(['--git-dir', repository.path, 'rev-list', '--count', `${base_sha}..${head_sha}`])
  if (ahead === '0') throw invalid({ code: 'custom', message: `No commits between ${input.base} and ${input.head}` })
  return { head_sha, base_sha }
}

/** Merges and returns the id of the merge commit; null if the branches conflict or the base has moved meanwhile. */
const tryMerge = (repository: Repository, pull: Pull, { message, push = false }: { message: string; push?: boolean }) =>
  withTemporaryFolder(async (cwd) => {
    await gitOrThrow(['clone', '--quiet', '--shared', '--no-checkout', repository.path, cwd])
    await gitOrThrow(['checkout', '--quiet', '--detach', pull.base_sha], { cwd })
    const merged = await git(['merge', '--quiet', '--no-ff', '--no-edit', '-m', message, pull.head_sha], { cwd })
    if (merged.code !== 0) return null
    const sha = await gitOrThrow(['rev-parse', 'HEAD'], { cwd })
    if (!push) return sha
    const pushed = await git(['push', '--quiet', 'origin', `HEAD:refs/heads/${pull.base}`], { cwd })
    return pushed.code === 0 ? sha : null
  })

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
