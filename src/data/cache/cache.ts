import type { RedisConfig } from '../../../config/types.ts'
import type { Fetch } from '../../base/http.ts'
import type { Logger } from '../../base/log.ts'
import { CacheRefusal, type CacheStore } from './store.ts'
import { createUpstashStore } from './upstash.ts'

/** The cache in front of the database (see docs/operations.md). If the store fails, it acts as if it were empty. */
export interface Cache {
  get(key: string): Promise<string | null>
  set(key: string, value: string, ttlSeconds: number): Promise<void>
  delete(...keys: string[]): Promise<void>
  /** Throws when the store cannot be reached. Used at boot and by the readiness check. */
  ping(): Promise<void>
  close(): Promise<void>
}

/**
 * Creates the cache for `redis.url`: the Redis protocol for `redis://` and `rediss://`, the REST API of Upstash for
 * `https://` and `http://`. It connects on first use; `ping` checks the connection.
 * @param onRead called after each read with its outcome
 * Throws when the URL is invalid or has another scheme.
 */
export async function connectCache(
  config: RedisConfig,
  log: Logger,
  fetcher: Fetch,
  onRead: (outcome: ReadOutcome) => void = () => {},
): Promise<Cache> {
  return guard(await createStore(config, fetcher), log, onRead)
}

async function createStore(config: RedisConfig, fetcher: Fetch): Promise<CacheStore> {
  const scheme = URL.parse(config.url)?.protocol
  if (scheme === 'http:' || scheme === 'https:') return createUpstashStore(config, fetcher)
  if (scheme !== 'redis:' && scheme !== 'rediss:')
    throw new Error('the cache URL must begin with redis://, rediss://, https:// or http://')
  const { createRedisStore } = await import('./redis.ts')
  return createRedisStore(config)
}

/** Shortest time of an outage before a ping checks whether the store has recovered. */
const COOL_DOWN_MS = 1_000
/** Refusals are logged at most once a minute: a full store refuses every write. */
const REFUSAL_LOG_MS = 60_000

export type ReadOutcome = 'hit' | 'miss' | 'fault'

/**
 * Makes a `Cache` of a `CacheStore`; unlike the store, the cache never throws. The first fault starts an outage, during
 * which all pending and later calls return at once as if the entry were absent. The first call after the cooldown
 * starts a ping in the background, and its success ends the outage. Deletions during an outage are lost, so readers
 * must recognise outdated entries.
 */
function guard(store: CacheStore, log: Logger, onRead: (outcome: ReadOutcome) => void): Cache {
  const attempt = createBreaker(store, log)
  return {
    get: async (key) => {
      const value = await attempt<string | null | undefined>(() => store.get(key), undefined)
      onRead(value === undefined ? 'fault' : value === null ? 'miss' : 'hit')
      return value ?? null
    },
    set: (key, value, ttlSeconds) => attempt(() => store.set(key, value, ttlSeconds), undefined),
    delete: async (...keys) => {
      if (keys.length > 0) await attempt(() => store.delete(keys), undefined)
    },
    ping: () => store.ping(),
    close: () => store.close().catch((error) => log.debug('closing the cache failed', { error })),
  }
}

/**
 * Makes a circuit breaker, which runs work on the store. It returns `fallback` when the work fails and, without calling
 * the store, during an outage.
 */
function createBreaker(store: CacheStore, log: Logger) {
  const waiting = new Set<() => void>()
  let nextRefusalLog = 0
  let down = false
  let probing = false
  let nextProbe = 0
  /** Counts outages, so that a command sent before an outage that fails after it does not start another. */
  let outages = 0

  const logRefusal = (error: CacheRefusal) => {
    if (Date.now() < nextRefusalLog) return
    nextRefusalLog = Date.now() + REFUSAL_LOG_MS
    log.warn('cache refuses a command', { error })
  }
  const startOutage = (error: unknown) => {
    if (!down) log.warn('cache is not reachable, going on without it', { error })
    if (!down) outages++
    down = true
    nextProbe = Date.now() + COOL_DOWN_MS
    for (const release of waiting) release()
    waiting.clear()
  }
  const probe = async () => {
    probing = true
    try {
      await store.ping()
      down = false
      log.info('cache is reachable again')
    } catch (error) {
      startOutage(error)
    } finally {
      probing = false
    }
  }
  return <T>(work: () => Promise<T>, fallback: T): Promise<T> => {
    if (down) {
      if (!probing && Date.now() >= nextProbe) void probe()
      return Promise.resolve(fallback)
    }
    const outage = outages
    return new Promise<T>((resolve) => {
      const release = () => resolve(fallback)
      waiting.add(release)
      work()
        .then(resolve, (error: unknown) => {
          if (error instanceof CacheRefusal) logRefusal(error)
          else if (outage === outages) startOutage(error)
          release()
        })
        .finally(() => waiting.delete(release))
    })
  }
}
