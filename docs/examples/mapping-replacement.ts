// A mapping service of one's own: repositories of a team directory. Started with
// `PORT=8081 PLATFORM_MAPPING_TOKEN=<secret> node docs/examples/mapping-replacement.ts`.
import { createHash, timingSafeEqual } from 'node:crypto'
import { createServer, type IncomingMessage } from 'node:http'

const DIRECTORY: Record<string, { repo_url: string; engine_provider: string | null; scope_id: string | null }> = {
  payments: { repo_url: 'https://git.example.com/shop/payments', engine_provider: 'aws', scope_id: '123456789012' },
  website: { repo_url: 'https://git.example.com/shop/website', engine_provider: null, scope_id: null },
}
const CLOUDS = ['azure', 'gcp', 'aws', 'oci', 'kubernetes', null, undefined]
const MAX_BYTES = 64 * 1024
const token = process.env.PLATFORM_MAPPING_TOKEN ?? ''
const digest = (text: string) => createHash('sha256').update(text).digest()

type Reply = { status: number; body: object; headers?: Record<string, string> }
const problem = (status: number, title: string, headers = {}): Reply => ({
  status,
  body: { type: 'about:blank', title, status },
  headers,
})

async function reply(request: IncomingMessage): Promise<Reply> {
  if (request.url === '/healthz' && request.method === 'GET') return { status: 200, body: { status: 'ok' } }
  const presented = /^Bearer (\S+)$/i.exec(request.headers.authorization ?? '')?.[1] ?? ''
  if (token !== '' && !timingSafeEqual(digest(presented), digest(token)))
    return problem(401, 'Invalid bearer token.', { 'www-authenticate': 'Bearer' })
  if (request.url !== '/v1/resolve') return problem(404, 'Not Found')
  if (request.method !== 'POST') return problem(405, 'Method Not Allowed', { allow: 'POST' })
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request) {
    size += chunk.length
    if (size > MAX_BYTES) return problem(413, 'Content Too Large', { connection: 'close' })
    chunks.push(chunk)
  }
  let body: unknown
  try {
    body = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks)))
  } catch {
    return problem(400, 'The body is not valid JSON.')
  }
  if (typeof body !== 'object' || body === null) return problem(422, 'Request validation failed')
  const { identifier, engine_provider, ...others } = body as Record<string, unknown>
  const characters = typeof identifier === 'string' ? [...identifier].length : 0
  if (typeof identifier !== 'string' || characters < 1 || characters > 1024)
    return problem(422, 'Request validation failed')
  if (!CLOUDS.some((cloud) => cloud === engine_provider) || Object.keys(others).length > 0)
    return problem(422, 'Request validation failed')
  const found = Object.hasOwn(DIRECTORY, identifier) ? DIRECTORY[identifier] : undefined
  return found
    ? { status: 200, body: { ...found, identifier } }
    : problem(404, 'The identifier is not in the directory.')
}

createServer(async (request, response) => {
  const { status, body, headers } = await reply(request).catch(() => problem(500, 'Internal server error'))
  const type = status === 200 ? 'application/json' : 'application/problem+json'
  if (!response.destroyed) response.writeHead(status, { 'content-type': type, ...headers }).end(JSON.stringify(body))
}).listen(Number(process.env.PORT ?? 8081), function () {
  console.log(`mapping service ready on ${JSON.stringify(this.address())}`)
})
