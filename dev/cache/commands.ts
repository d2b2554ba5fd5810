/** The reply `OK`, a status that the dialect never encodes in base64. */
export const OK = Symbol('OK')
export type Reply = string | number | null | typeof OK | Reply[]

export class CommandError extends Error {}

interface Entry {
  value: string
  /** Milliseconds since 1970. Null means no expiry. */
  expires_at: number | null
}

const notInteger = () => new CommandError('ERR value is not an integer or out of range')
const syntax = () => new CommandError('ERR syntax error')

function parseInteger(text: string | undefined): number {
  if (text === undefined || !/^-?\d{1,15}$/.test(text)) throw notInteger()
  return Number(text)
}

/** Makes a store of texts with expiry. A full store drops the key whose last write is the oldest. */
export function createKeyspace(options: { now?: () => number; maxKeys?: number } = {}) {
  const now = options.now ?? Date.now
  const entries = new Map<string, Entry>()

  const findLive = (key: string): Entry | null => {
    const entry = entries.get(key)
    if (!entry) return null
    if (entry.expires_at === null || entry.expires_at > now()) return entry
    entries.delete(key)
    return null
  }
  const store = (key: string, entry: Entry) => {
    entries.delete(key)
    entries.set(key, entry)
    const [oldest] = entries.keys()
    if (entries.size > (options.maxKeys ?? 100_000) && oldest !== undefined) entries.delete(oldest)
  }
  const add = (key: string, amount: number): number => {
    const entry = findLive(key)
    const value = parseInteger(entry?.value ?? '0') + amount
    store(key, { value: String(value), expires_at: entry?.expires_at ?? null })
    return value
  }
  const expire = (key: string, at: number): number => {
    const entry = findLive(key)
    if (entry) entry.expires_at = at
    return entry ? 1 : 0
  }
  const remaining = (key: string, unit: number): number => {
    const entry = findLive(key)
    if (!entry) return -2
    return entry.expires_at === null ? -1 : Math.ceil((entry.expires_at - now()) / unit)
  }

  const set = (key: string, value: string, flags: string[]): Reply => {
    const previous = findLive(key)
    let expiresAt: number | null = null
    let condition = ''
    let get = false
    for (let index = 0; index < flags.length; index++) {
      const flag = (flags[index] ?? '').toUpperCase()
      if (flag === 'NX' || flag === 'XX') condition = flag
      else if (flag === 'GET') get = true
      else if (flag === 'KEEPTTL') expiresAt = previous?.expires_at ?? null
      else if (['EX', 'PX', 'EXAT', 'PXAT'].includes(flag)) {
        const amount = parseInteger(flags[++index])
        if (amount <= 0) throw new CommandError("ERR invalid expire time in 'set' command")
        expiresAt = amount * (flag.startsWith('EX') ? 1000 : 1) + (flag.endsWith('AT') ? 0 : now())
      } else throw syntax()
    }
    const refused = (condition === 'NX' && previous) || (condition === 'XX' && !previous)
    if (!refused) store(key, { value, expires_at: expiresAt })
    if (get) return previous?.value ?? null
    return refused ? null : OK
  }

  const commands: Record<string, { least: number; run: (args: string[]) => Reply }> = {
    PING: { least: 0, run: ([text]) => text ?? 'PONG' },
    GET: { least: 1, run: ([key = '']) => findLive(key)?.value ?? null },
    MGET: { least: 1, run: (keys) => keys.map((key) => findLive(key)?.value ?? null) },
    SET: { least: 2, run: ([key = '', value = '', ...flags]) => set(key, value, flags) },
    SETEX: { least: 3, run: ([key = '', seconds = '', value = '']) => set(key, value, ['EX', seconds]) },
    DEL: { least: 1, run: (keys) => keys.filter((key) => findLive(key) && entries.delete(key)).length },
    UNLINK: { least: 1, run: (keys) => keys.filter((key) => findLive(key) && entries.delete(key)).length },
    EXISTS: { least: 1, run: (keys) => keys.filter((key) => findLive(key)).length },
    EXPIRE: { least: 2, run: ([key = '', seconds]) => expire(key, now() + parseInteger(seconds) * 1000) },
    PEXPIRE: { least: 2, run: ([key = '', ms]) => expire(key, now() + parseInteger(ms)) },
    TTL: { least: 1, run: ([key = '']) => remaining(key, 1000) },
    PTTL: { least: 1, run: ([key = '']) => remaining(key, 1) },
    INCR: { least: 1, run: ([key = '']) => add(key, 1) },
    DECR: { least: 1, run: ([key = '']) => add(key, -1) },
    INCRBY: { least: 2, run: ([key = '', amount]) => add(key, parseInteger(amount)) },
    DBSIZE: { least: 0, run: () => [...entries.keys()].filter((key) => findLive(key)).length },
    FLUSHDB: {
      least: 0,
      run: () => {
        entries.clear()
        return OK
      },
    },
    FLUSHALL: { least: 0, run: () => commands.FLUSHDB?.run([]) ?? OK },
  }

  /** Runs one command. Errors: `CommandError` with Redis's own text. */
  return (command: readonly unknown[]): Reply => {
    const [name = '', ...args] = command.map(String)
    const entry = commands[name.toUpperCase()]
    if (!entry) throw new CommandError(`ERR unknown command '${name}'`)
    if (args.length < entry.least)
      throw new CommandError(`ERR wrong number of arguments for '${name.toLowerCase()}' command`)
    return entry.run(args)
  }
}
