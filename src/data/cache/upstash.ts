import { Redis, type Requester, type UpstashRequest, type UpstashResponse } from '@upstash/redis'
import type { RedisConfig } from '../../../config/types.ts'
import { type Fetch, send } from '../../base/http.ts'
import { isJsonObject, parseJson } from '../../base/json.ts'
import { CacheRefusal, type CacheStore, createSlots, isRefusal, tryOut } from './store.ts'

/** Creates the store for Upstash's REST API. The token is the password of the URL or its query parameter `token`. */
export function createUpstashStore(config: RedisConfig, fetcher: Fetch): CacheStore {
  const redis = new Redis(createRequester(config, fetcher))
  const { run: inSlot } = createSlots(config)
  const store: CacheStore = {
    // The client parses every value as JSON, so a text is stored as a JSON string.
    get: (key) => inSlot(() => redis.get<string>(key)),
    set: async (key, value, ttlSeconds) => {
      await inSlot(() => redis.set(key, JSON.stringify(value), { ex: ttlSeconds }))
    },
    delete: async (keys) => {
      await inSlot(() => redis.del(...keys))
    },
    ping: async () => {
      await inSlot(() => redis.ping())
      await tryOut(store)
    },
    close: async () => {},
  }
  return store
}

/** Makes the requester of the Upstash client, which uses `send` for timeouts and tests. */
function createRequester(config: RedisConfig, fetcher: Fetch): Requester {
  const url = new URL(config.url)
  const base = `${url.origin}${url.pathname.replace(/\/+$/, '')}`
  const token = decodeURIComponent(url.password) || (url.searchParams.get('token') ?? '')
  return {
    request: async <T>(request: UpstashRequest): Promise<UpstashResponse<T>> => {
      const answer = await send(fetcher, {
        url: [base, ...(request.path ?? [])].join('/'),
        method: 'POST',
        headers: { authorization: `Bearer ${token}` },
        json: request.body,
        // `fetch` manages the connection, so connecting cannot have its own limit.
        timeoutMs: Math.max(config.socket_connect_timeout, config.socket_timeout) * 1000,
        signal: request.signal,
      })
      if (answer.status !== 200) {
        const reply = parseJson(answer.text())
        const text = isJsonObject(reply) && typeof reply.error === 'string' ? reply.error : ''
        if (answer.status === 413 || isRefusal(text)) throw new CacheRefusal(`the cache answered ${answer.status}`)
        throw new Error(`the cache answered ${answer.status}`)
      }
      return answer.json() as UpstashResponse<T>
    },
  }
}
