import { spawn } from 'node:child_process'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import { createGitEnvironment, GIT_OPTIONS } from './git.ts'
import type { Repository } from './repositories.ts'

export const SERVICES = ['git-upload-pack', 'git-receive-pack'] as const
type Service = (typeof SERVICES)[number]

const NO_CACHE = { 'cache-control': 'no-cache, max-age=0, must-revalidate', expires: 'Fri, 01 Jan 1980 00:00:00 GMT' }

/** Answers `GET info/refs?service=…` with the list of references, in the client's protocol version. */
export function advertise(
  request: IncomingMessage,
  response: ServerResponse,
  repository: Repository,
  service: Service,
): void {
  response.writeHead(200, { ...NO_CACHE, 'content-type': `application/x-${service}-advertisement` })
  const line = `# service=${service}\n`
  response.write(`${(line.length + 4).toString(16).padStart(4, '0')}${line}0000`)
  const child = serve(request, repository, service, ['--advertise-refs'])
  child.stdin.end()
  finish(child, response)
}

/** Answers `POST git-upload-pack` and `POST git-receive-pack`. The body may be compressed. */
export function exchange(
  request: IncomingMessage,
  response: ServerResponse,
  repository: Repository,
  service: Service,
): void {
  if (request.headers['content-type'] !== `application/x-${service}-request`) {
    response.writeHead(415).end()
    return
  }
  response.writeHead(200, { ...NO_CACHE, 'content-type': `application/x-${service}-result` })
  const child = serve(request, repository, service, [])
  const body: Readable = request.headers['content-encoding'] === 'gzip' ? request.pipe(createGunzip()) : request
  pipeline(body, child.stdin).catch(() => child.kill())
  finish(child, response)
}

function serve(request: IncomingMessage, repository: Repository, service: Service, flags: string[]) {
  const protocol = request.headers['git-protocol']
  const env: Record<string, string> =
    typeof protocol === 'string' && /^[a-z0-9=:]{1,64}$/.test(protocol) ? { GIT_PROTOCOL: protocol } : {}
  return spawn('git', [...GIT_OPTIONS, service.slice(4), '--stateless-rpc', ...flags, repository.path], {
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
