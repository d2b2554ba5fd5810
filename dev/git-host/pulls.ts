import { join } from 'node:path'
import type { HttpBindings } from '@hono/node-server'
import { Hono } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import { etag } from 'hono/etag'
import { createMiddleware } from 'hono/factory'
import { isJsonObject, parseJson } from '../../src/base/json.ts'
import { createKeyedLock, readText, withTemporaryFolder, writeAtomically } from '../files.ts'
import type { Account } from './accounts.ts'
import type { Disturbance } from './disturbances.ts'
import {
  allowedMethods,
  judge,
  type MergeRules,
  type Method,
  readRules,
  rulesFile,
  signedCommits,
} from './merge-rules.ts'
import { branchCommit, defaultBranch, findRepository, git, gitOrThrow, type Repository } from './repositories.ts'

export interface Pull {
  number: number
  title: string
  body: string
  head: string
  base: string
  state: 'open' | 'closed'
  draft?: boolean
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
  accounts: readonly Account[]
}
export type HostEnv = {
  Bindings: HttpBindings
  Variables: { authenticated: boolean; account: Account | null; disturbance: Disturbance | undefined }
}
type ApiEnv = HostEnv & { Variables: { repository: Repository } }

/** An answer of the REST API with a status other than 2xx. */
class HostError extends Error {
  readonly status: 400 | 401 | 403 | 404 | 405 | 409 | 422
  readonly errors: object[] | undefined
  constructor(status: HostError['status'], message: string, errors?: object[]) {
    super(message)
    this.status = status
    this.errors = errors
  }
}

const notFound = () => new HostError(404, 'Not Found')
const notMergeable = (text = 'Pull Request is not mergeable') => new HostError(405, text)
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
  app.use(etag())
  app.use(bodyLimit({ maxSize: 1_048_576 }))
  app.get('/user', requireUser, (c) => {
    if (c.var.account?.app) throw new HostError(403, 'Resource not accessible by integration')
    return c.json({ login: site.user, type: 'User' })
  })
  app.use('/repos/:owner/:name/*', async (c, next) => {
    const { lacks } = c.var.account ?? {}
    if (lacks?.path.test(c.req.path)) throw new HostError(403, lacks.words)
    await next()
  })
  app.use('/repos/:owner/:name/*', requireRepository(site))
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
    // GitHub's lists leave this field out.
    return c.json(found.map((pull) => ({ ...describe(site, repository, pull), merged: undefined })))
  })
  app.get(`${pulls}/:number{[0-9]+}`, async (c) => {
    const { repository } = c.var
    const pull = await findPull(repository, Number(c.req.param('number')))
    if (!pull) throw notFound()
    const rules = await readRules(repository)
    const isOpen = pull.state === 'open'
    const known = isOpen && !(await countDown(repository, rules, 'unknown_readings'))
    const mergeable = known ? (await tryMerge(repository, pull, { message: 'Trial merge' })) !== null : null
    const [method = 'merge'] = allowedMethods(rules)
    const judged = mergeable ? (await judge(repository, rules, pull, method)).state : 'dirty'
    const mergeable_state = mergeable === null ? 'unknown' : judged
    return c.json({ ...describe(site, repository, pull), mergeable, mergeable_state })
  })
  app.put(`${pulls}/:number{[0-9]+}/merge`, requireUser, async (c) => {
    const { repository } = c.var
    const { sha: expected, merge_method = 'merge' } = readJson(await c.req.text())
    const method = readMethod(merge_method)
    const rules = await readRules(repository)
    const sha = await change(repository, async (all) => {
      const pull = all.find(({ number }) => number === Number(c.req.param('number')))
      if (!pull) throw notFound()
      if (pull.state === 'closed') throw notMergeable()
      if (expected !== undefined && expected !== pull.head_sha)
        throw new HostError(409, 'Head branch was modified. Review and try the merge again.')
      const message = `Merge pull request #${pull.number} from ${repository.owner}/${pull.head}\n\n${pull.title}`
      const { refusal } = await judge(repository, rules, pull, method)
      if (refusal) throw notMergeable(refusal)
      if (await countDown(repository, rules, 'moved_bases'))
        throw notMergeable('Base branch was modified. Review and try the merge again.')
      const merged = await tryMerge(repository, pull, { message, method, push: true })
      if (!merged) throw notMergeable()
      pull.state = 'closed'
      pull.merged_at = pull.closed_at = secondsOf(new Date())
      pull.merge_commit_sha = merged
      return merged
    })
    return c.json({ sha, merged: true, message: 'Pull Request successfully merged' })
  })
  addRules(app, site)
  app.all('*', () => {
    throw notFound()
  })
  return app
}

/** Adds the routes that tell what a merge needs. */
function addRules(app: Hono<ApiEnv>, site: Site): void {
  const at = '/repos/:owner/:name' as const
  app.get(at, requireRepository(site), async (c) => {
    const { owner, name, private: isPrivate } = c.var.repository
    const rules = await readRules(c.var.repository)
    const { allow_merge_commit = true, allow_squash_merge = true, allow_rebase_merge = true } = rules
    const push = c.var.authenticated && rules.can_push !== false
    const isApp = c.var.account?.app === true
    const default_branch = await defaultBranch(c.var.repository)
    const permissions = { admin: push && rules.is_admin === true && !isApp, push: push && !isApp, pull: !isApp }
    return c.json({
      ...{
        name,
        full_name: `${owner}/${name}`,
        private: isPrivate,
        archived: rules.archived ?? false,
        default_branch,
        permissions,
      },
      ...(push && !isApp && { allow_merge_commit, allow_squash_merge, allow_rebase_merge }),
    })
  })
  app.get(`${at}/rules/branches/:branch`, async (c) => c.json((await readRules(c.var.repository)).rules ?? []))
  app.get(`${at}/branches/:branch`, async (c) => {
    const { protection } = await readRules(c.var.repository)
    const required_status_checks = { contexts: [], ...protection?.required_status_checks }
    return c.json({ name: c.req.param('branch'), protected: !!protection, protection: { required_status_checks } })
  })
  app.get(`${at}/branches/:branch/protection`, async (c) => {
    const { protection, is_admin } = await readRules(c.var.repository)
    if (!is_admin) throw notFound()
    if (!protection) throw new HostError(404, 'Branch not protected')
    return c.json(protection)
  })
  app.get(`${at}/commits/:sha/check-runs`, async (c) => {
    const { check_runs = [] } = await readRules(c.var.repository)
    return c.json({ total_count: check_runs.length, check_runs })
  })
  app.get(`${at}/commits/:sha/status`, async (c) => {
    const { statuses = [] } = await readRules(c.var.repository)
    return c.json({ sha: c.req.param('sha'), total_count: statuses.length, statuses })
  })
  app.get(`${at}/pulls/:number{[0-9]+}/reviews`, async (c) => {
    const { reviews = [] } = await readRules(c.var.repository)
    return c.json(reviews.map(({ login, state }, index) => ({ id: index + 1, user: { login, type: 'User' }, state })))
  })
  app.get(`${at}/pulls/:number{[0-9]+}/commits`, async (c) => {
    const pull = await findPull(c.var.repository, Number(c.req.param('number')))
    if (!pull) throw notFound()
    const commits = await signedCommits(c.var.repository, pull.head_sha, pull.base_sha)
    return c.json(commits.map(({ sha, verified }) => ({ sha, commit: { verification: { verified } } })))
  })
}

/** Takes one from a counter of the rules. Reports whether there was one. */
async function countDown(
  repository: Repository,
  rules: MergeRules,
  name: 'unknown_readings' | 'moved_bases',
): Promise<boolean> {
  const left = rules[name] ?? 0
  if (left > 0) await writeAtomically(rulesFile(repository), JSON.stringify({ ...rules, [name]: left - 1 }))
  return left > 0
}

function readMethod(value: unknown): Method {
  if (value === 'merge' || value === 'squash' || value === 'rebase') return value
  throw new HostError(422, 'Invalid request.')
}

const requireRepository = (site: Site) =>
  createMiddleware<ApiEnv, '/repos/:owner/:name'>(async (c, next) => {
    const found = await findRepository(site.data_dir, c.req.param('owner'), c.req.param('name'))
    if (!found || (found.private && !c.var.authenticated)) throw notFound()
    if (found.rules.moved_to !== undefined) {
      const { pathname, search } = new URL(c.req.url)
      const path = pathname.replace(`/repos/${found.owner}/${found.name}`, `/repos/${found.rules.moved_to}`)
      return c.redirect(`${path}${search}`, c.req.method === 'GET' ? 301 : 307)
    }
    c.set('repository', found)
    await next()
  })

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
      // GitHub closes a pull request when one of its branches is deleted.
      const isGone = head_sha === null || base_sha === null
      const closed = isGone ? { state: 'closed' as const, closed_at: secondsOf(new Date()) } : {}
      return { ...pull, ...closed, head_sha: head_sha ?? pull.head_sha, base_sha: base_sha ?? pull.base_sha }
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
  return { title, head: branch, base, body: text(body.body) ?? '', draft: body.draft === true }
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

interface Merge {
  message: string
  method?: Method
  push?: boolean
}

/** Merges and returns the id of the last new commit; null if the branches conflict or the base has moved meanwhile. */
const tryMerge = (repository: Repository, pull: Pull, { message, method = 'merge', push = false }: Merge) =>
  withTemporaryFolder(async (cwd) => {
    await gitOrThrow(['clone', '--quiet', '--shared', '--no-checkout', repository.path, cwd])
    const detach = (commit: string) => gitOrThrow(['checkout', '--quiet', '--detach', commit], { cwd })
    await detach(method === 'rebase' ? pull.head_sha : pull.base_sha)
    const changed = await git([...CHANGES[method](message, pull)], { cwd })
    if (changed.code !== 0) return null
    if (method === 'squash') await gitOrThrow(['commit', '--quiet', '--allow-empty', '-m', message], { cwd })
    const sha = await gitOrThrow(['rev-parse', 'HEAD'], { cwd })
    if (!push) return sha
    const pushed = await git(['push', '--quiet', 'origin', `HEAD:refs/heads/${pull.base}`], { cwd })
    return pushed.code === 0 ? sha : null
  })

const CHANGES: Record<Method, (message: string, pull: Pull) => string[]> = {
  merge: (message, { head_sha }) => ['merge', '--quiet', '--no-ff', '--no-edit', '-m', message, head_sha],
  squash: (_, { head_sha }) => ['merge', '--quiet', '--squash', head_sha],
  rebase: (_, { base_sha }) => ['rebase', '--quiet', '--no-ff', base_sha],
}

function describe({ url }: Site, repository: Repository, pull: Pull) {
  const path = `${repository.owner}/${repository.name}`
  const side = (ref: string, sha: string) => ({ label: `${repository.owner}:${ref}`, ref, sha })
  const { head_sha, base_sha, head, base, user, draft = false, ...fields } = pull
  return {
    ...fields,
    draft,
    id: pull.number,
    user: { login: user, type: 'User' },
    url: `${url}/api/v3/repos/${path}/pulls/${pull.number}`,
    html_url: `${url}/${path}/pull/${pull.number}`,
    merged: pull.merged_at !== null,
    head: side(head, head_sha),
    base: side(base, base_sha),
  }
}
