import type { Logger } from '../log/logger.ts'
import type { CacheStore } from './store.ts'
import type { Cache } from './types.ts'

const COOL_DOWN_MS = 1_000

/**
 * Makes faults invisible. After one the store is left alone: callers get null at once, and once per
 * cool-down a ping in the background finds out whether it is back. Deletions are lost meanwhile;
 * readers must be able to tell an outdated entry.
 */
export function guard(store: CacheStore, log: Logger, cool_down_ms = COOL_DOWN_MS): Cache {
  let down = false
  let probing = false
  let next_probe = 0

  const fault = (error: unknown) => {
    if (!down) log.warn('cache is not reachable, going on without it', { error })
    down = true
    next_probe = Date.now() + cool_down_ms
  }
  const probe = async () => {
    probing = true
    try {
      await store.ping()
      down = false
      log.info('cache is reachable again')
    } catch (error) {
      fault(error)
    } finally {
      probing = false
    }
  }
  const attempt = async <T>(work: () => Promise<T>, otherwise: T): Promise<T> => {
    if (down) {
      if (!probing && Date.now() >= next_probe) void probe()
      return otherwise
    }
    try {
      return await work()
    } catch (error) {
      fault(error)
      return otherwise
    }
  }

  return {
    get: (key) => attempt(() => store.get(key), null),
    set: (key, value, ttl_seconds) => attempt(() => store.set(key, value, ttl_seconds), undefined),
    delete: async (...keys) => {
      if (keys.length > 0) await attempt(() => store.delete(keys), undefined)
    },
    ping: () => store.ping(),
    close: () => store.close().catch((error) => log.debug('closing the cache failed', { error })),
  }
}
