import type { RedisConfig } from '../../../config/types.ts'
import type { Fetch } from '../../base/http.ts'
import type { Logger } from '../../base/log.ts'
import { guard, type ReadOutcome } from './guard.ts'
import type { Cache, CacheStore } from './types.ts'
import { createUpstashStore } from './upstash.ts'

/**
 * Makes the cache for `redis.url`. The scheme of the address chooses the store: `redis://` and `rediss://` the
 * Redis protocol, `https://` and `http://` the REST interface of Upstash. No connection is made before the first
 * use; `ping` checks whether one can be made.
 * @param onRead is called after each read with its outcome
 * Errors: the address has another scheme or is no URL.
 */
export async function connectCache(
  config: RedisConfig,
  log: Logger,
  fetcher: Fetch,
  onRead?: (outcome: ReadOutcome) => void,
): Promise<Cache> {
  return guard(await createStore(config, fetcher), log, { onRead })
}

async function createStore(config: RedisConfig, fetcher: Fetch): Promise<CacheStore> {
  const scheme = URL.parse(config.url)?.protocol
  if (scheme === 'http:' || scheme === 'https:') return createUpstashStore(config, fetcher)
  if (scheme !== 'redis:' && scheme !== 'rediss:')
    throw new Error('the cache URL must begin with redis://, rediss://, https:// or http://')
  const { createRedisStore } = await import('./redis.ts')
  return createRedisStore(config)
}
