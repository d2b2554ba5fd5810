/**
 * The cache in front of the database; docs/operations.md lists what is in it. Every method falls
 * through on a fault: `get` answers null, writes do nothing; each within the configured timeouts.
 */
export interface Cache {
  get(key: string): Promise<string | null>
  set(key: string, value: string, ttl_seconds: number): Promise<void>
  delete(...keys: string[]): Promise<void>
  /** Throws when the cache cannot be reached: boot and readiness. */
  ping(): Promise<void>
  close(): Promise<void>
}
