import type { RedisConfig } from '../../../config/types.ts'
import type { Fetch } from '../../base/http.ts'
import type { Logger } from '../../base/log.ts'
import { guard, type ReadOutcome } from './guard.ts'
import type { Cache, CacheStore } from './types.ts'
import { createUpstashStore } from './upstash.ts'

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
