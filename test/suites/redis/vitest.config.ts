import { defineConfig } from 'vitest/config'

if (!process.env.REDIS_INSTALLATION) throw new Error('no server: these tests are started by npm run test:redis')

export default defineConfig({
  test: {
    include: ['test/suites/redis/*.redis.ts'],
    globalSetup: ['test/helpers/global-setup.ts'],
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    env: { NODE_ENV: 'test' },
  },
})
