import { vi } from 'vitest'

/** Repeats the check until it passes. The limit only allows for machines under load. */
export const eventually = <T>(check: () => T | Promise<T>): Promise<T> =>
  vi.waitFor(check, { timeout: 20_000, interval: 20 })
