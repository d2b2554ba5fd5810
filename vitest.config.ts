import { defineConfig } from 'vitest/config'

/** Many processes and much waiting: `npm run test:processes`. */
export const PROCESSES = ['test/suites/processes/**/*.test.ts', 'test/contracts/conformance/**/*.test.ts']

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: [
      'test/suites/runtimes/**',
      'test/suites/property/**',
      'test/suites/chaos/**',
      'test/suites/contract/**',
      // Every mode once; all of its paths are in vitest.modes.config.ts.
      'test/suites/modes/*-*.test.ts',
      'test/suites/modes/{grounding,intent,models,recorded,repair,rules,traces}.test.ts',
      ...PROCESSES,
      'node_modules/**',
    ],
    globalSetup: ['test/helpers/global-setup.ts'],
    pool: 'forks',
    maxWorkers: 3,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // A loaded machine may miss a wait once; a defect fails twice. The report names what was repeated.
    retry: 1,
    // A test must not depend on the operator's shell.
    env: { NODE_ENV: 'test' },
  },
})
