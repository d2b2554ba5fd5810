import { defineConfig } from 'vitest/config'

const folders: string[] = JSON.parse(process.env.MUTATION_TESTS ?? '[]')

/** The tests that a run of Stryker repeats for each change. */
export default defineConfig({
  test: {
    globalSetup: ['test/helpers/global-setup.ts'],
    pool: 'forks',
    testTimeout: 60_000,
    hookTimeout: 60_000,
    env: { NODE_ENV: 'test' },
    include: folders.map((path) => (path.endsWith('.ts') ? path : `${path}/**/*.test.ts`)),
  },
})
