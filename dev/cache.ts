import { createHash, timingSafeEqual } from 'node:crypto'
import { CommandError, createKeyspace, OK, type Reply } from './cache/commands.ts'
import { BodyTooLarge, type Running, type ServerAnswer, startServer } from './server.ts'

/**
 * Starts an in-memory cache with the REST dialect of Upstash: `POST /` runs one command, `POST /pipeline` several,
 * `POST /multi-exec` several as one transaction. Requests need a bearer token; answers are in base64 on request.
 */
export async function startCache(options: { port?: number; token: string; now?: () => number }): Promise<
  Running & {
    /** The address with the token as its password, as `PLATFORM_REDIS_URL` takes it. */ platform_url: string
  }
> {
  const execute = createKeyspace({ now: options.now })
  const running = await startServer({
    port: options.port,
    maxBodyBytes: 16 * 1024 * 1024,
    respond: async ({ method, path, headers, body }) => {
      if (!isAuthorized(headers.authorization, options.token)) return refuse(401, 'Unauthorized')
      if (method !== 'POST') return refuse(405, 'ERR only POST is served')
      const command: unknown = JSON.parse((await body()).toString('utf8'))
      const answer = createAnswerer(execute, headers['upstash-encoding'] === 'base64')
      if (!Array.isArray(command)) return refuse(400, 'ERR failed to parse command')
      if (path === '/pipeline') return { status: 200, body: command.map(answer) }
      // The whole transaction is refused if one of its commands cannot be read.
      if (path === '/multi-exec')
        return command.every(isCommand)
          ? { status: 200, body: command.map(answer) }
          : refuse(400, 'EXECABORT Transaction discarded because of previous errors.')
      if (path !== '/') return refuse(404, 'ERR not found')
      const result = answer(command)
      return { status: 'error' in result ? 400 : 200, body: result }
    },
    fail: (error) => refuse(error instanceof BodyTooLarge ? 413 : 400, 'ERR failed to parse command'),
  })
  return { ...running, platform_url: running.url.replace('http://', `http://:${encodeURIComponent(options.token)}@`) }
}

const refuse = (status: number, error: string): ServerAnswer => ({ status, body: { error } })
const isCommand = (value: unknown): value is unknown[] => Array.isArray(value) && value.length > 0

type Result = { result: unknown } | { error: string }

const createAnswerer =
  (execute: ReturnType<typeof createKeyspace>, base64: boolean) =>
  (command: unknown): Result => {
    if (!isCommand(command)) return { error: 'ERR empty command' }
    try {
      return { result: encode(execute(command), base64) }
    } catch (error) {
      if (error instanceof CommandError) return { error: error.message }
      throw error
    }
  }

function encode(reply: Reply, base64: boolean): unknown {
  if (reply === OK) return 'OK'
  if (Array.isArray(reply)) return reply.map((item) => encode(item, base64))
  return typeof reply === 'string' && base64 ? Buffer.from(reply).toString('base64') : reply
}

const digest = (text: string) => createHash('sha256').update(text).digest()
const isAuthorized = (header: string | undefined, token: string): boolean =>
  timingSafeEqual(digest(header ?? ''), digest(`Bearer ${token}`))
