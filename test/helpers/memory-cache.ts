import type { Cache } from '../../src/data/cache/cache.ts'

/** Creates a cache that never fails and never expires, and exposes its entries. */
export function memoryCache(): Cache & { entries: Map<string, { value: string; ttl: number }> } {
  const entries = new Map<string, { value: string; ttl: number }>()
  return {
    entries,
    get: async (key) => entries.get(key)?.value ?? null,
    set: async (key, value, ttl) => void entries.set(key, { value, ttl }),
    delete: async (...keys) => {
      for (const key of keys) entries.delete(key)
    },
    isOn: () => true,
    ping: async () => {},
    close: async () => {},
  }
}
