import { join } from 'node:path'
import { defineConfig } from 'vitest/config'
import type { Emulator } from './start.ts'

declare module 'vitest' {
  interface ProvidedContext {
    azurite: Emulator
  }
}

if (!process.env.AZURITE) throw new Error('no emulator: these tests are started by npm run test:azurite')

export default defineConfig({
  test: {
    root: join(import.meta.dirname, '../../..'),
    include: ['test/suites/azurite/*.azurite.ts'],
    provide: { azurite: JSON.parse(process.env.AZURITE) },
    pool: 'forks',
    maxWorkers: 1,
    testTimeout: 60_000,
    env: { NODE_ENV: 'test' },
  },
})
