/**
 * The cache in front of the database; docs/operations.md lists what is in it. Callers need not handle faults:
 * when the store fails, `get` answers null and writes do nothing, each within the configured timeouts. `guard`
 * makes a cache of a `CacheStore`.
 */
export interface Cache {
  get(key: string): Promise<string | null>
  set(key: string, value: string, ttlSeconds: number): Promise<void>
  delete(...keys: string[]): Promise<void>
  /** Throws when the store cannot be reached. Boot and the readiness check use it. */
  ping(): Promise<void>
  close(): Promise<void>
}

/**
 * A key-value store with expiring entries, as `redis.ts` and `upstash.ts` implement it. Every fault throws;
 * `guard` turns a store into a `Cache`, which hides them.
 */
export interface CacheStore {
  get(key: string): Promise<string | null>
  set(key: string, value: string, ttlSeconds: number): Promise<void>
  delete(keys: string[]): Promise<void>
  ping(): Promise<void>
  close(): Promise<void>
}

/** The store answered but refused this one command, because it is full for example. This is not an outage. */
export class CacheRefusal extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'CacheRefusal'
  }
}
