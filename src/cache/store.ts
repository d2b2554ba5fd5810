/** A cache without manners: every fault throws. `guard` makes a `Cache` of it. */
export interface CacheStore {
  get(key: string): Promise<string | null>
  set(key: string, value: string, ttl_seconds: number): Promise<void>
  delete(keys: string[]): Promise<void>
  ping(): Promise<void>
  close(): Promise<void>
}
