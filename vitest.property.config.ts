import { defineConfig } from 'vitest/config'

/**
 * Generated inputs against every route. `PROPERTY_SEED` repeats a run, `PROPERTY_SECONDS` is the time
 * that all properties share.
 */
export default defineConfig({
  test: {
    include: ['test/suites/property/**/*.test.ts'],
    globalSetup: ['test/helpers/global-setup.ts'],
    pool: 'forks',
    maxWorkers: 1,
    testTimeout: 120_000,
    hookTimeout: 60_000,
    env: { NODE_ENV: 'test' },
  },
})
