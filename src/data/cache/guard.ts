import type { Logger } from '../../base/log.ts'
import { type Cache, CacheRefusal, type CacheStore } from './types.ts'

/** How long an outage lasts at least before a ping checks whether the store is back. */
const COOL_DOWN_MS = 1_000
/** Refusals are logged once a minute at most: a full store refuses every write. */
const REFUSAL_LOG_MS = 60_000

export type ReadOutcome = 'hit' | 'miss' | 'fault'

/**
 * Makes a `Cache` of a `CacheStore`: the store throws when it fails, the cache never does. The first fault begins
 * an outage. Every call that waits for the store is answered at once as if the entry were absent, and so are later
 * calls, which do not ask the store. Calls that come a cool-down later start a ping in the background; when it
 * succeeds, the outage is over. Deletions during an outage are lost, so readers must recognise outdated entries.
 */
export function guard(
  store: CacheStore,
  log: Logger,
  options: { coolDownMs?: number; onRead?: (outcome: ReadOutcome) => void } = {},
): Cache {
  const { coolDownMs = COOL_DOWN_MS, onRead = () => {} } = options
  const attempt = createBreaker(store, log, coolDownMs)
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

/** Runs work on the store and answers `fallback` when it fails or when there is an outage. */
type Attempt = <T>(work: () => Promise<T>, fallback: T) => Promise<T>

/** A circuit breaker: it knows whether there is an outage, and does not ask the store during one. */
function createBreaker(store: CacheStore, log: Logger, coolDownMs: number): Attempt {
  const waiting = new Set<() => void>()
  const logRefusal = createRefusalLog(log)
  let down = false
  let probing = false
  let nextProbe = 0
  /** Counts outages, so that a command which was sent before an outage and fails after it does not begin another. */
  let outages = 0

  const startOutage = (error: unknown) => {
    if (!down) log.warn('cache is not reachable, going on without it', { error })
    if (!down) outages++
    down = true
    nextProbe = Date.now() + coolDownMs
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

function createRefusalLog(log: Logger): (error: CacheRefusal) => void {
  let next = 0
  return (error) => {
    if (Date.now() < next) return
    next = Date.now() + REFUSAL_LOG_MS
    log.warn('cache refuses a command', { error })
  }
}
