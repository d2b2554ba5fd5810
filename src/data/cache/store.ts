import type { RedisConfig } from '../../../config/types.ts'
import { createGate } from '../../base/gate.ts'

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

/** Makes the gate of the connections to a store; its error is `no free cache connection within <s> s`. */
export const createSlots = ({ max_connections, pool_timeout }: RedisConfig) =>
  createGate({
    atOnce: max_connections,
    waiting: Number.POSITIVE_INFINITY,
    waitMs: pool_timeout * 1000,
    busy: `no free cache connection within ${pool_timeout} s`,
  })
