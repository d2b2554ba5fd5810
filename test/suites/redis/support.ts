import { afterEach, expect, vi } from 'vitest'
import type { RedisConfig } from '../../../config/types.ts'
import { createLogger } from '../../../src/base/log.ts'
import { type Cache, connectCache } from '../../../src/data/cache/cache.ts'

export const SETTINGS = {
  redis_url_env: '',
  max_connections: 20,
  socket_connect_timeout: 0.5,
  socket_timeout: 0.5,
  pool_timeout: 0.5,
}
export const GONE = 'cache is off, going on without it'
export const BACK = 'cache is on again'

/** Opens caches that are closed after each test, and collects what they log. */
export function openedCaches() {
  const opened: Cache[] = []
  afterEach(async () => {
    for (const cache of opened.splice(0)) await cache.close()
  })
  return async (url: string, changes: Partial<RedisConfig> = {}) => {
    const messages: string[] = []
    const errors: string[] = []
    const log = createLogger({
      write: (line) => {
        const entry = JSON.parse(line)
        messages.push(entry.message)
        if (entry.error) errors.push(entry.error.message)
      },
    })
    const cache = await connectCache({ ...SETTINGS, url, ...changes }, log, globalThis.fetch)
    opened.push(cache)
    return { cache, messages, errors }
  }
}

/** Uses a cache until it is on and keeps what it is given. */
export const works = (cache: Cache, key = 'key') =>
  vi.waitFor(
    async () => {
      const value = crypto.randomUUID()
      await cache.set(key, value, 60)
      expect(await cache.get(key)).toBe(value)
    },
    { timeout: 30_000, interval: 50 },
  )
