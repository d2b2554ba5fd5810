import { defineConfig } from 'vitest/config'

/** Real processes that are killed in the middle of their work. */
export default defineConfig({
  test: {
    include: ['test/suites/chaos/**/*.test.ts'],
    globalSetup: ['test/helpers/global-setup.ts'],
    pool: 'forks',
    maxWorkers: 1,
    testTimeout: 120_000,
    hookTimeout: 60_000,
    // A loaded machine may miss a wait once; a defect fails twice. The report names what was repeated.
    retry: 1,
    env: { NODE_ENV: 'test' },
  },
})
