import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import { join } from 'node:path'
import { listen, type Running, readBody } from '../server.ts'
import { answerApi } from './api.ts'
import { loadCertificates } from './certificates.ts'
import { indexPage, pullPage, repositoryPage } from './pages.ts'
import { createPulls, type Pulls } from './pulls.ts'
import {
  createRepository,
  findRepository,
  listRepositories,
  type Repository,
  type RepositoryContent,
} from './repositories.ts'
import { SAMPLES } from './samples.ts'
import { advertise, exchange, SERVICES } from './smart-http.ts'

export interface GitHost extends Running {
  /** Base address of the REST API, for `git.api_url`. */
  api_url: string
  ca_file: string
  caPem: string
  /** `host:port`, for `git.allow_private_hosts`. */
  host: string
  /** Clone addresses of the sample repositories. */
  repositories: string[]
  /** Adds a repository and answers its clone address. An existing one is not changed. */
  addRepository(options: {
    owner: string
    name: string
    content?: RepositoryContent
    private?: boolean
  }): Promise<string>
  /** Absolute path of the bare repository behind a clone address. */
  pathOf(cloneUrl: string): string
}

/**
 * Starts a git host for one machine: smart HTTP over TLS, GitHub's pull-request API below `/api/v3`, and pages for
 * people. Anyone may read public repositories; pushes and changes over the API need `user` and `token`, as basic
 * authentication or the token alone as bearer. Everything is kept in `data_dir`.
 * @param options.samples false leaves out the sample repositories
 */
export async function startGitHost(options: {
  port?: number
  data_dir: string
  user: string
  token: string
  samples?: boolean
}): Promise<GitHost> {
  const { data_dir, user, token } = options
  const certificates = await loadCertificates(join(data_dir, 'tls'))
  const samples = options.samples === false ? [] : SAMPLES
  for (const sample of samples) await createRepository(data_dir, sample)
  const site = { url: '', data_dir, user, token, pulls: createPulls(user) }
  const server = createServer({ cert: certificates.cert, key: certificates.key }, (request, response) => {
    handle(site, request, response).catch((error: unknown) => fail(response, error))
  })
  const running = await listen(server, { port: options.port, scheme: 'https' })
  site.url = running.url
  const address = ({ owner, name }: { owner: string; name: string }) => `${running.url}/${owner}/${name}.git`
  return {
    ...running,
    api_url: `${running.url}/api/v3`,
    ca_file: certificates.ca_file,
    caPem: certificates.caPem,
    host: new URL(running.url).host,
    repositories: samples.map(address),
    addRepository: async (repository) => address(await createRepository(data_dir, repository)),
    pathOf: (cloneUrl) => join(data_dir, 'repositories', new URL(cloneUrl).pathname.slice(1)),
  }
}

interface Site {
  url: string
  data_dir: string
  user: string
  token: string
  pulls: Pulls
}

function fail(response: ServerResponse, error: unknown): void {
  if (response.headersSent) response.destroy()
  else response.writeHead(500, { 'content-type': 'text/plain' }).end(error instanceof Error ? error.message : 'error')
}

async function handle(site: Site, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const url = new URL(request.url ?? '/', site.url)
  const authenticated = isAuthenticated(site, request.headers.authorization)
  if (request.headers.authorization && !authenticated) return unauthorized(response)
  if (url.pathname.startsWith('/api/v3/')) return api(site, url, authenticated, request, response)
  const match = /^\/([^/]+)\/([^/]+?)(?:\.git)?\/(info\/refs|git-upload-pack|git-receive-pack)$/.exec(url.pathname)
  if (!match) return pages(site, url, authenticated, response)
  const [, owner = '', name = '', action = ''] = match
  const service = SERVICES.find(
    (candidate) => candidate === (action === 'info/refs' ? url.searchParams.get('service') : action),
  )
  const repository = await findRepository(site.data_dir, owner, name)
  const allowed = authenticated || (repository !== null && !repository.private && service !== 'git-receive-pack')
  if (!allowed) return unauthorized(response)
  if (!repository || !service)
    return void response.writeHead(repository ? 403 : 404, { 'content-type': 'text/plain' }).end('Not Found')
  if (action === 'info/refs') advertise(request, response, repository, service)
  else exchange(request, response, repository, service)
}

function unauthorized(response: ServerResponse): void {
  response.writeHead(401, { 'www-authenticate': 'Basic realm="sample git host"', 'content-type': 'application/json' })
  response.end(JSON.stringify({ message: 'Bad credentials', status: '401' }))
}

function isAuthenticated(site: Site, header: string | undefined): boolean {
  const [scheme = '', value = ''] = (header ?? '').split(' ', 2)
  if (/^(bearer|token)$/i.test(scheme)) return same(value, site.token)
  if (!/^basic$/i.test(scheme)) return false
  return same(Buffer.from(value, 'base64').toString('utf8'), `${site.user}:${site.token}`)
}

const digest = (text: string) => createHash('sha256').update(text).digest()
const same = (left: string, right: string): boolean => timingSafeEqual(digest(left), digest(right))

async function api(
  site: Site,
  url: URL,
  authenticated: boolean,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const answer = await answerApi(site, {
    method: request.method ?? 'GET',
    path: url.pathname.slice('/api/v3'.length),
    query: url.searchParams,
    authenticated,
    body: async () => (await readBody(request, 1_048_576)).toString('utf8'),
  })
  response.writeHead(answer.status, { 'content-type': 'application/json; charset=utf-8' })
  response.end(answer.status === 204 ? undefined : JSON.stringify(answer.body))
}

async function pages(site: Site, url: URL, authenticated: boolean, response: ServerResponse): Promise<void> {
  const visible = (repository: Repository) => !repository.private || authenticated
  const html = (status: number, body: string) =>
    response.writeHead(status, { 'content-type': 'text/html; charset=utf-8' }).end(body)
  if (url.pathname === '/') return void html(200, indexPage((await listRepositories(site.data_dir)).filter(visible)))
  const match = /^\/([^/]+)\/([^/]+?)(?:\.git)?(?:\/pull\/(\d+))?\/?$/.exec(url.pathname)
  const repository = match && (await findRepository(site.data_dir, match[1] ?? '', match[2] ?? ''))
  if (!repository || !visible(repository)) return void html(404, 'Not Found')
  if (!match[3])
    return void html(
      200,
      await repositoryPage(
        repository,
        `${site.url}/${repository.owner}/${repository.name}`,
        await site.pulls.list(repository),
      ),
    )
  const pull = await site.pulls.get(repository, Number(match[3]))
  html(pull ? 200 : 404, pull ? await pullPage(repository, pull) : 'Not Found')
}
