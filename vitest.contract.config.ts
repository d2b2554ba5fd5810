import { defineConfig } from 'vitest/config'

/** Core and worker as processes between fakes that know the contract alone. */
export default defineConfig({
  test: {
    include: ['test/suites/contract/**/*.test.ts'],
    globalSetup: ['test/helpers/global-setup.ts'],
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // A loaded machine may miss a wait once; a defect fails twice. The report names what was repeated.
    retry: 1,
    env: { NODE_ENV: 'test' },
  },
})
