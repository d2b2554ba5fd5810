/**
 * The cache in front of the database; docs/operations.md lists what is in it. Every method falls
 * through on a fault: `get` answers null, writes do nothing; each within the configured timeouts.
 */
export interface Cache {
  get(key: string): Promise<string | null>
  set(key: string, value: string, ttlSeconds: number): Promise<void>
  delete(...keys: string[]): Promise<void>
  /** Throws when the cache cannot be reached: boot and readiness. */
  ping(): Promise<void>
  close(): Promise<void>
}

/** A cache without manners: every fault throws. `guard` makes a `Cache` of it. */
export interface CacheStore {
  get(key: string): Promise<string | null>
  set(key: string, value: string, ttlSeconds: number): Promise<void>
  delete(keys: string[]): Promise<void>
  ping(): Promise<void>
  close(): Promise<void>
}

/** The cache answered, and said no to this one command (full, wrong kind of value): no outage. */
export class CacheRefusal extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'CacheRefusal'
  }
}
