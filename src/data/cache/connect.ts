import type { RedisConfig } from '../../../config/types.ts'
import type { Fetch } from '../../base/http.ts'
import type { Logger } from '../../base/log.ts'
import { guard, type ReadOutcome } from './guard.ts'
import type { Cache, CacheStore } from './types.ts'
import { createUpstashStore } from './upstash.ts'

/**
 * The cache at `redis.url`: `redis://`, `rediss://`, or the REST address (`https://`, `http://`) of a
 * service that speaks it. Connects on first use; `ping` tells whether it can.
 * Errors: the address has another scheme or is no URL.
 */
export async function connectCache(
  config: RedisConfig,
  log: Logger,
  fetcher: Fetch,
  onRead?: (outcome: ReadOutcome) => void,
): Promise<Cache> {
  return guard(await createStore(config, fetcher), log, { onRead: onRead })
}

async function createStore(config: RedisConfig, fetcher: Fetch): Promise<CacheStore> {
  const scheme = URL.parse(config.url)?.protocol
  if (scheme === 'http:' || scheme === 'https:') return createUpstashStore(config, fetcher)
  if (scheme !== 'redis:' && scheme !== 'rediss:')
    throw new Error('the cache URL must begin with redis://, rediss://, https:// or http://')
  const { createRedisStore } = await import('./redis.ts')
  return createRedisStore(config)
}
