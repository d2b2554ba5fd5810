import { defineConfig } from 'vitest/config'

/** Rounds of every mode on the real engine: the unhappy paths, hostile models, interruptions. */
export default defineConfig({
  test: {
    include: ['test/suites/modes/**/*.test.ts'],
    globalSetup: ['test/helpers/global-setup.ts'],
    pool: 'forks',
    maxWorkers: 3,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // A loaded machine may miss a wait once; a defect fails twice. The report names what was repeated.
    retry: 1,
    env: { NODE_ENV: 'test' },
  },
})
