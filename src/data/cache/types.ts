/** The cache in front of the database (see docs/operations.md). If the store fails, it acts as if it were empty. */
export interface Cache {
  get(key: string): Promise<string | null>
  set(key: string, value: string, ttlSeconds: number): Promise<void>
  delete(...keys: string[]): Promise<void>
  /** Throws when the store cannot be reached. Used at boot and by the readiness check. */
  ping(): Promise<void>
  close(): Promise<void>
}

/** A key-value store with expiring entries. It throws on every fault; `guard` makes a `Cache` of it. */
export interface CacheStore {
  get(key: string): Promise<string | null>
  set(key: string, value: string, ttlSeconds: number): Promise<void>
  delete(keys: string[]): Promise<void>
  ping(): Promise<void>
  close(): Promise<void>
}

/** The store refused this one command, for example because it is full. This is not an outage. */
export class CacheRefusal extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'CacheRefusal'
  }
}
