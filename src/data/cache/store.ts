import type { RedisConfig } from '../../../config/types.ts'
import { createGate } from '../../base/gate.ts'

/** A key-value store with expiring entries. It throws on every fault; `guard` makes a `Cache` of it. */
export interface CacheStore {
  get(key: string): Promise<string | null>
  set(key: string, value: string, ttlSeconds: number): Promise<void>
  delete(keys: string[]): Promise<void>
  /** Throws unless the store can be used. */
  ping(): Promise<void>
  close(): Promise<void>
}

/** What is lost while the cache is off, for logs and the readiness check. */
export const WITHOUT_CACHE =
  'Session details are read from the database at every request, which is slower. Nothing is lost.'

/** The store refused this one command, for example because it is full. This is not an outage. */
export class CacheRefusal extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'CacheRefusal'
  }
}

/**
 * True for an error reply about one command: others go on, and a store that is full or may not write still answers
 * reads. Every other code (`READONLY`, `CLUSTERDOWN`, `LOADING`, `NOPERM`, ...) is about the server or the user: all
 * commands would fail, and a new connection may lead to a server that can answer.
 */
export const isRefusal = (reply: string): boolean => /^(OOM|MISCONF|NOREPLICAS|WRONGTYPE|TRYAGAIN|ERR)\b/.test(reply)

/**
 * Does with a store what the platform does. A ping alone is also answered by a replica, by a node of a cluster that is
 * down, and to a user without rights. A store that refuses to keep more passes, because it answers reads.
 */
export async function tryOut(store: CacheStore): Promise<void> {
  const key = `platform:session:${crypto.randomUUID()}:check`
  const unlessRefused = (error: unknown) => {
    if (!(error instanceof CacheRefusal)) throw error
  }
  await store.set(key, 'x', 10).catch(unlessRefused)
  await store.get(key)
  await store.delete([key]).catch(unlessRefused)
}

/** Makes the gate of the connections to a store; its error is `no free cache connection within <s> s`. */
export const createSlots = ({ max_connections, pool_timeout }: RedisConfig) =>
  createGate({
    atOnce: max_connections,
    waiting: Number.POSITIVE_INFINITY,
    waitMs: pool_timeout * 1000,
    busy: `no free cache connection within ${pool_timeout} s`,
  })
