import { BodyTooLarge, isAuthorized, type Running, type ServerAnswer, startServer } from './server.ts'

/**
 * Starts an in-memory cache with the commands of the platform in the REST dialect of Upstash: `POST /` runs `GET`,
 * `SET` with `EX`, `DEL` or `PING`. Requests need a bearer token.
 */
export async function startCache(options: { port?: number; token: string; now?: () => number }): Promise<
  Running & {
    /** The address with the token as its password, as `PLATFORM_REDIS_URL` takes it. */ platform_url: string
  }
> {
  const execute = createKeyspace(options.now ?? Date.now)
  const running = await startServer({
    port: options.port,
    maxBodyBytes: 16 * 1024 * 1024,
    respond: async ({ method, path, headers, body }) => {
      if (!isAuthorized(headers.authorization, options.token)) return refuse(401, 'Unauthorized')
      if (method !== 'POST') return refuse(405, 'ERR only POST is served')
      if (path !== '/') return refuse(404, 'ERR not found')
      const command: unknown = JSON.parse((await body()).toString('utf8'))
      if (!Array.isArray(command)) return refuse(400, 'ERR failed to parse command')
      return { status: 200, body: { result: execute(command.map(String)) } }
    },
    fail: (error) =>
      error instanceof CommandError
        ? refuse(400, error.message)
        : refuse(error instanceof BodyTooLarge ? 413 : 400, 'ERR failed to parse command'),
  })
  return { ...running, platform_url: running.url.replace('http://', `http://:${encodeURIComponent(options.token)}@`) }
}

const refuse = (status: number, error: string): ServerAnswer => ({ status, body: { error } })

class CommandError extends Error {}

/** Above this number of keys, the key whose last write is the oldest is dropped. */
const MAX_KEYS = 100_000

/** Makes a store of texts that expire. The returned function runs one command. Errors: `CommandError`. */
function createKeyspace(now: () => number) {
  const entries = new Map<string, { value: string; expires_at: number }>()
  const find = (key: string) => {
    const entry = entries.get(key)
    if (entry && entry.expires_at > now()) return entry
    entries.delete(key)
    return null
  }
  return ([name = '', ...args]: readonly string[]): string | number | null => {
    const [key = '', value = '', flag, seconds] = args
    switch (name.toUpperCase()) {
      case 'PING':
        return 'PONG'
      case 'GET':
        return find(key)?.value ?? null
      case 'SET': {
        if (flag !== undefined && (flag.toUpperCase() !== 'EX' || !(Number(seconds) > 0)))
          throw new CommandError('ERR syntax error')
        entries.delete(key)
        entries.set(key, { value, expires_at: flag === undefined ? Infinity : now() + Number(seconds) * 1000 })
        const [oldest = ''] = entries.keys()
        if (entries.size > MAX_KEYS) entries.delete(oldest)
        return 'OK'
      }
      case 'DEL':
        return args.filter((each) => find(each) && entries.delete(each)).length
      default:
        throw new CommandError(`ERR unknown command '${name}'`)
    }
  }
}
