import { spawn } from 'node:child_process'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { fileURLToPath } from 'node:url'
import { createGunzip } from 'node:zlib'
import { createAdaptorServer } from '@hono/node-server'
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response'
import { type Context, Hono } from 'hono'
import { writeAtomically } from '../files.ts'
import { listen } from '../server.ts'
import { type Account, findAccount } from './accounts.ts'
import { loadCertificates } from './certificates.ts'
import { createDisturbances, type Disturbance, type Disturbances } from './disturbances.ts'
import { type MergeRules, rulesFile } from './merge-rules.ts'
import { indexPage, pullPage, repositoryPage } from './pages.ts'
import { createApi, findPull, type HostEnv, listPulls, type Site } from './pulls.ts'
import {
  createGitEnvironment,
  createRepository,
  findRepository,
  GIT_OPTIONS,
  listRepositories,
  type NewRepository,
  type Repository,
  renameRepository,
} from './repositories.ts'

/** The repositories of a new sample host. They use built-in resources only, so that an engine needs no network. */
const SAMPLES = ['web-platform', 'data-platform', 'network-baseline', 'legacy-accounts'].map((name) => ({
  owner: 'samples',
  name,
  content: { folder: fileURLToPath(new URL(`../samples/${name}`, import.meta.url)) },
}))

export type GitHost = Awaited<ReturnType<typeof startGitHost>>

/**
 * Starts a git host for one machine: smart HTTP over TLS, GitHub's pull-request API below `/api/v3`, and pages for
 * people. Anyone may read public repositories; pushes and changes over the API need `user` and `token`, as basic
 * authentication or the token alone as bearer. All data is in `data_dir`.
 * @param options.samples false leaves out the sample repositories
 * @param options.accounts further accounts, with tokens of other kinds
 * @param options.path the path below which all of it is served, such as `/code`
 */
export async function startGitHost(options: {
  port?: number
  data_dir: string
  user: string
  token: string
  samples?: boolean
  path?: string
  accounts?: Account[]
}) {
  const { data_dir, user, token, path = '', accounts = [] } = options
  const certificates = await loadCertificates(join(data_dir, 'tls'))
  const samples = options.samples === false ? [] : SAMPLES
  for (const sample of samples) await createRepository(data_dir, sample)
  const site: Site = { url: '', data_dir, user, accounts: [{ user, token }, ...accounts] }
  const disturbances = createDisturbances()
  const server = createAdaptorServer({
    fetch: new Hono<HostEnv>().route(path || '/', createApp(site, disturbances)).fetch,
    createServer,
    serverOptions: { cert: certificates.cert, key: certificates.key },
    overrideGlobalObjects: false,
  })
  const running = await listen(server as Server, { port: options.port, scheme: 'https' })
  const url = `${running.url}${path}`
  site.url = url
  const address = ({ owner, name }: { owner: string; name: string }) => `${url}/${owner}/${name}.git`
  const pathOf = (cloneUrl: string) => join(data_dir, 'repositories', new URL(cloneUrl).pathname.slice(path.length + 1))
  return {
    ...running,
    url,
    /** Base address of the REST API, for `git.api_url`. */
    api_url: `${url}/api/v3`,
    ca_file: certificates.ca_file,
    caPem: certificates.caPem,
    /** `host:port`, for `git.allow_private_hosts`. */
    host: new URL(running.url).host,
    repositories: samples.map(address),
    /** Lets things go wrong once each; `disturbances.left()` says how many have not happened. */
    disturbances,
    /** Adds a repository and returns its clone address. An existing one is not changed. */
    addRepository: async (repository: NewRepository) => address(await createRepository(data_dir, repository)),
    /** Restricts the merges of the repository behind a clone address, from now on. */
    setRules: (cloneUrl: string, rules: MergeRules) =>
      writeAtomically(rulesFile({ path: pathOf(cloneUrl) }), JSON.stringify(rules)),
    /** Renames the repository behind a clone address to `<owner>/<name>`; the old address redirects from now on. */
    rename: async (cloneUrl: string, to: string) => {
      await renameRepository(pathOf(cloneUrl), pathOf(`${url}/${to}.git`), to)
      return `${url}/${to}.git`
    },
    /** Returns the absolute path of the bare repository behind a clone address. */
    pathOf,
  }
}

function createApp(site: Site, disturbances: Disturbances) {
  const app = new Hono<HostEnv>({ strict: false })
  app.onError((error, c) => c.text(error.message, 500))
  app.notFound((c) => c.html('Not Found', 404))
  app.use(async (c, next) => {
    const { pathname, search } = new URL(c.req.url)
    const disturbance = disturbances.take(c.req.method, `${pathname}${search}`)
    c.set('disturbance', disturbance)
    if (disturbance?.done || !disturbance) await next()
    else return disturbed(c, disturbance)
    // Git writes its answer by itself.
    if (disturbance && c.res !== RESPONSE_ALREADY_SENT) c.res = disturbed(c, disturbance)
  })
  app.use(async (c, next) => {
    const header = c.req.header('authorization')
    const isApi = new URL(c.req.url).pathname.includes('/api/v3/')
    const account = findAccount(site.accounts, header, isApi)
    c.set('account', account)
    c.set('authenticated', account !== null)
    if (header && !c.var.authenticated) return unauthorized(c)
    await next()
  })
  app.route('/api/v3', createApi(site))
  app.get('/:owner/:name/info/refs', (c) => serveGit(site, c, c.req.query('service')))
  for (const service of SERVICES) app.post(`/:owner/:name/${service}`, (c) => serveGit(site, c, service))
  const visible = async (c: Context<HostEnv, '/:owner/:name'>): Promise<Repository | null> => {
    const repository = await findRepository(site.data_dir, c.req.param('owner'), withoutSuffix(c.req.param('name')))
    return repository && (!repository.private || c.var.authenticated) ? repository : null
  }
  app.get('/', async (c) => {
    const repositories = await listRepositories(site.data_dir)
    return c.html(indexPage(repositories.filter((repository) => !repository.private || c.var.authenticated)))
  })
  app.get('/:owner/:name', async (c) => {
    const repository = await visible(c)
    if (!repository) return c.notFound()
    const url = `${site.url}/${repository.owner}/${repository.name}`
    return c.html(await repositoryPage(repository, url, await listPulls(repository)))
  })
  app.get('/:owner/:name/pull/:number{[0-9]+}', async (c) => {
    const repository = await visible(c)
    const pull = repository && (await findPull(repository, Number(c.req.param('number'))))
    return pull ? c.html(await pullPage(repository, pull)) : c.notFound()
  })
  return app
}

function disturbed(c: Context<HostEnv>, { answer }: Disturbance): Response {
  if (answer) return new Response(answer.body ?? '', { status: answer.status, headers: answer.headers })
  c.env.outgoing.destroy()
  return RESPONSE_ALREADY_SENT
}

const withoutSuffix = (name: string) => name.replace(/\.git$/, '')

async function serveGit(site: Site, c: Context<HostEnv, '/:owner/:name/*'>, asked: string | undefined) {
  const service = SERVICES.find((candidate) => candidate === asked)
  const repository = await findRepository(site.data_dir, c.req.param('owner'), withoutSuffix(c.req.param('name')))
  if (repository?.rules.moved_to !== undefined) {
    const { pathname, search } = new URL(c.req.url)
    const rest = /\/(info\/refs|git-(upload|receive)-pack)$/.exec(pathname)?.[0]
    return c.redirect(`${site.url}/${repository.rules.moved_to}.git${rest}${search}`, 301)
  }
  const mayRead = repository !== null && !repository.private && service !== 'git-receive-pack'
  if (!c.var.authenticated && !mayRead) return unauthorized(c)
  const refusal = service === 'git-receive-pack' ? (repository?.rules.no_push ?? c.var.account?.no_push) : undefined
  if (refusal !== undefined) return c.text(refusal, 403)
  if (!repository || !service) return c.text('Not Found', repository ? 403 : 404)
  if (c.req.method === 'GET') advertise(c.env.incoming, c.env.outgoing, repository, service)
  else exchange(c.env.incoming, c.env.outgoing, repository, service, c.var.disturbance)
  return RESPONSE_ALREADY_SENT
}

const unauthorized = (c: Context): Response =>
  c.json({ message: 'Bad credentials', status: '401' }, 401, { 'www-authenticate': 'Basic realm="sample git host"' })

const SERVICES = ['git-upload-pack', 'git-receive-pack'] as const
type Service = (typeof SERVICES)[number]

const NO_CACHE = { 'cache-control': 'no-cache, max-age=0, must-revalidate', expires: 'Fri, 01 Jan 1980 00:00:00 GMT' }

/** Answers `GET info/refs?service=…` with the list of references, in the client's protocol version. */
function advertise(request: IncomingMessage, response: ServerResponse, repository: Repository, service: Service): void {
  response.writeHead(200, { ...NO_CACHE, 'content-type': `application/x-${service}-advertisement` })
  const line = `# service=${service}\n`
  response.write(`${(line.length + 4).toString(16).padStart(4, '0')}${line}0000`)
  const child = serve(request, repository, service, ['--advertise-refs'])
  child.stdin.end()
  finish(child, response)
}

/** Answers `POST git-upload-pack` and `POST git-receive-pack`. The body may be compressed. */
function exchange(
  request: IncomingMessage,
  response: ServerResponse,
  repository: Repository,
  service: Service,
  disturbance?: Disturbance,
): void {
  if (request.headers['content-type'] !== `application/x-${service}-request`) {
    response.writeHead(415).end()
    return
  }
  const child = serve(request, repository, service, [])
  const body: Readable = request.headers['content-encoding'] === 'gzip' ? request.pipe(createGunzip()) : request
  pipeline(body, child.stdin).catch(() => child.kill())
  if (disturbance) {
    const { answer, bytes } = disturbance
    if (bytes === undefined) child.stdout.resume()
    else
      child.stdout.once('data', (chunk: Buffer) => {
        response.writeHead(200, { 'content-type': `application/x-${service}-result` })
        response.write(chunk.subarray(0, bytes), () => response.destroy())
        child.kill()
      })
    if (bytes === undefined)
      child.once('close', () => (answer ? response.writeHead(answer.status).end(answer.body) : response.destroy()))
    return
  }
  response.writeHead(200, { ...NO_CACHE, 'content-type': `application/x-${service}-result` })
  finish(child, response)
}

function serve(request: IncomingMessage, repository: Repository, service: Service, flags: string[]) {
  const protocol = request.headers['git-protocol']
  const env: Record<string, string> =
    typeof protocol === 'string' && /^[a-z0-9=:]{1,64}$/.test(protocol) ? { GIT_PROTOCOL: protocol } : {}
  const hooks = repository.rules.refused_branches === undefined ? [] : ['-c', `core.hooksPath=${repository.path}/hooks`]
  return spawn('git', [...GIT_OPTIONS, ...hooks, service.slice(4), '--stateless-rpc', ...flags, repository.path], {
    env: createGitEnvironment(env),
    stdio: ['pipe', 'pipe', 'ignore'],
  })
}

function finish(child: ReturnType<typeof serve>, response: ServerResponse): void {
  child.once('error', () => response.destroy())
  // The client is gone. After a complete answer the child process ends by itself.
  response.once('close', () => {
    if (!response.writableFinished) child.kill()
  })
  pipeline(child.stdout, response).catch(() => response.destroy())
}
