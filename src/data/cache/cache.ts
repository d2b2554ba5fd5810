import type { RedisConfig } from '../../../config/types.ts'
import type { Fetch } from '../../base/http.ts'
import type { Logger } from '../../base/log.ts'
import { CACHE_SCHEMES, parseCacheAddress } from './address.ts'
import { CacheRefusal, type CacheStore, WITHOUT_CACHE } from './store.ts'
import { createUpstashStore } from './upstash.ts'

/** The cache in front of the database (see docs/operations.md). If the store fails, it acts as if it were empty. */
export type Cache = ReturnType<typeof guard>

/**
 * Creates the cache for `redis.url`: the Redis protocol for `redis://`, `rediss://` and the addresses of sentinels, the
 * REST API of Upstash for `https://` and `http://`. It connects on first use; `ping` checks the connection.
 * @param onCall called after each read and write with its outcome
 * Throws when the URL is invalid or has another scheme.
 */
export async function connectCache(
  config: RedisConfig,
  log: Logger,
  fetcher: Fetch,
  onCall: OnCall = () => {},
): Promise<Cache> {
  return guard(await createStore(config, fetcher), log, onCall)
}

async function createStore(config: RedisConfig, fetcher: Fetch): Promise<CacheStore> {
  const scheme = URL.parse(config.url)?.protocol
  if (scheme === 'http:' || scheme === 'https:') return createUpstashStore(config, fetcher)
  const address = parseCacheAddress(config.url)
  if (!address) throw new Error(`the cache URL must begin with ${CACHE_SCHEMES}`)
  const { createRedisStore } = await import('./redis.ts')
  return createRedisStore(config, address)
}

/** How long an outage lasts before a check finds out whether the store has recovered. */
const COOL_DOWN_MS = 1_000
/** Refusals are logged at most once a minute: a full store refuses every write. */
const REFUSAL_LOG_MS = 60_000

/** `refused`: the store answers, but did not keep this entry, for example because it is full. `fault`: it is off. */
export type CacheOutcome = 'hit' | 'miss' | 'kept' | 'refused' | 'fault'
type OnCall = (call: 'read' | 'write', outcome: CacheOutcome) => void

/**
 * Makes a `Cache` of a `CacheStore`; unlike the store, the cache never throws. The first fault starts an outage, during
 * which all pending and later calls return at once as if the entry were absent. The first call after the cooldown
 * starts a check in the background, and its success ends the outage. Deletions during an outage are lost, so readers
 * must recognise outdated entries.
 */
function guard(store: CacheStore, log: Logger, onCall: OnCall) {
  const breaker = createBreaker(store, log)
  return {
    get: async (key: string): Promise<string | null> => {
      const { outcome, value = null } = await breaker.attempt(() => store.get(key))
      onCall('read', outcome !== 'done' ? outcome : value === null ? 'miss' : 'hit')
      return value
    },
    set: async (key: string, value: string, ttlSeconds: number): Promise<void> => {
      const { outcome } = await breaker.attempt(() => store.set(key, value, ttlSeconds))
      onCall('write', outcome === 'done' ? 'kept' : outcome)
    },
    delete: async (...keys: string[]): Promise<void> => {
      if (keys.length > 0) await breaker.attempt(() => store.delete(keys))
    },
    /** False during an outage, when the database answers in place of the cache. */
    isOn: breaker.isOn,
    /** Throws when the store cannot be used. Used at boot and by the readiness check; also ends and starts outages. */
    ping: breaker.check,
    close: () => store.close().catch((error) => log.debug('closing the cache failed', { error })),
  }
}

interface Attempt<T> {
  outcome: 'done' | 'refused' | 'fault'
  value?: T
}

/** Makes a circuit breaker, which runs work on the store. During an outage it does not call the store. */
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
    if (!down) log.warn('cache is off, going on without it', { error, effect: WITHOUT_CACHE })
    if (!down) outages++
    down = true
    nextProbe = Date.now() + COOL_DOWN_MS
    for (const release of waiting) release()
    waiting.clear()
  }
  const check = async () => {
    try {
      await store.ping()
    } catch (error) {
      startOutage(error)
      throw error
    }
    if (down) log.info('cache is on again')
    down = false
  }
  const probe = async () => {
    probing = true
    await check().catch(() => {})
    probing = false
  }
  return {
    isOn: () => !down,
    check,
    attempt: <T>(work: () => Promise<T>): Promise<Attempt<T>> => {
      if (down) {
        if (!probing && Date.now() >= nextProbe) void probe()
        return Promise.resolve({ outcome: 'fault' })
      }
      const outage = outages
      return new Promise((resolve) => {
        const release = () => resolve({ outcome: 'fault' })
        waiting.add(release)
        work()
          .then(
            (value) => resolve({ outcome: 'done', value }),
            (error: unknown) => {
              if (error instanceof CacheRefusal) {
                logRefusal(error)
                resolve({ outcome: 'refused' })
              } else if (outage === outages) startOutage(error)
              release()
            },
          )
          .finally(() => waiting.delete(release))
      })
    },
  }
}
