import { createHash, timingSafeEqual } from 'node:crypto'
import { createServer } from 'node:http'
import { CommandError, createKeyspace, OK, type Reply } from './cache/commands.ts'
import { BodyTooLarge, listen, type Running, readBody } from './server.ts'

/**
 * A cache in memory that speaks the REST dialect of Upstash: `POST /` takes one command, `POST /pipeline` several, and
 * `POST /multi-exec` several as one transaction. Requests carry a bearer token; answers are encoded in base64 when the
 * request asks for it.
 */
export async function startCache(options: { port?: number; token: string; now?: () => number }): Promise<
  Running & {
    /** The address with the token as its password, as `PLATFORM_REDIS_URL` takes it. */ platform_url: string
  }
> {
  const execute = createKeyspace({ now: options.now })
  const server = createServer(async (request, response) => {
    const reply = (status: number, body: unknown) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    try {
      if (!isAuthorized(request.headers.authorization, options.token)) return reply(401, { error: 'Unauthorized' })
      if (request.method !== 'POST') return reply(405, { error: 'ERR only POST is served' })
      const body: unknown = JSON.parse((await readBody(request, 16 * 1024 * 1024)).toString('utf8'))
      const answer = createAnswerer(execute, request.headers['upstash-encoding'] === 'base64')
      if (!Array.isArray(body)) return reply(400, { error: 'ERR failed to parse command' })
      if (request.url === '/pipeline') return reply(200, body.map(answer))
      if (request.url === '/multi-exec') return answerTransaction(body, answer, reply)
      if (request.url !== '/') return reply(404, { error: 'ERR not found' })
      const result = answer(body)
      reply('error' in result ? 400 : 200, result)
    } catch (error) {
      reply(error instanceof BodyTooLarge ? 413 : 400, { error: 'ERR failed to parse command' })
    }
  })
  const running = await listen(server, { port: options.port })
  return { ...running, platform_url: running.url.replace('http://', `http://:${encodeURIComponent(options.token)}@`) }
}

type Result = { result: unknown } | { error: string }

const createAnswerer =
  (execute: ReturnType<typeof createKeyspace>, base64: boolean) =>
  (command: unknown): Result => {
    if (!Array.isArray(command) || command.length === 0) return { error: 'ERR empty command' }
    try {
      return { result: encode(execute(command), base64) }
    } catch (error) {
      if (error instanceof CommandError) return { error: error.message }
      throw error
    }
  }

/** Answers a transaction. When one of its commands cannot be read, the whole transaction is refused. */
function answerTransaction(
  body: unknown[],
  answer: (command: unknown) => Result,
  reply: (status: number, body: unknown) => unknown,
): void {
  if (body.some((command) => !Array.isArray(command) || command.length === 0))
    reply(400, { error: 'EXECABORT Transaction discarded because of previous errors.' })
  else reply(200, body.map(answer))
}

function encode(reply: Reply, base64: boolean): unknown {
  if (reply === OK) return 'OK'
  if (Array.isArray(reply)) return reply.map((item) => encode(item, base64))
  return typeof reply === 'string' && base64 ? Buffer.from(reply).toString('base64') : reply
}

const digest = (text: string) => createHash('sha256').update(text).digest()
const isAuthorized = (header: string | undefined, token: string): boolean =>
  timingSafeEqual(digest(header ?? ''), digest(`Bearer ${token}`))
