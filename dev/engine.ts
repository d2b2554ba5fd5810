import { NoEngine, provideEngine } from './engine/provide.ts'

/**
 * Provides an engine for this machine, and prints a downloaded one's folder for PATH. Exits with 1 without an engine.
 */
try {
  const folder = await provideEngine({ env: process.env, output: process.stderr })
  if (folder !== null) console.log(folder)
} catch (error) {
  if (!(error instanceof NoEngine)) throw error
  console.error(error.message)
  process.exitCode = 1
}
