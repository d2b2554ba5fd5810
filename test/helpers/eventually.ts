import { vi } from 'vitest'

/** Asks again until the check passes; the limit is for machines under load, no measure of anything. */
export const eventually = <T>(check: () => T | Promise<T>): Promise<T> =>
  vi.waitFor(check, { timeout: 20_000, interval: 20 })
