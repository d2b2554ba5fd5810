import { defineConfig } from 'vitest/config'
import { PROCESSES } from './vitest.config.ts'

/** The embedded stack as a user starts it, workers and databases that die, sidecars with planted defects. */
export default defineConfig({
  test: {
    include: PROCESSES,
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
