import type { Cache } from '../../src/data/cache/types.ts'

/** A cache that never fails and never forgets. */
export function memoryCache(): Cache {
  const entries = new Map<string, string>()
  return {
    get: async (key) => entries.get(key) ?? null,
    set: async (key, value) => {
      entries.set(key, value)
    },
    delete: async (...keys) => {
      for (const key of keys) entries.delete(key)
    },
    ping: async () => {},
    close: async () => {},
  }
}
