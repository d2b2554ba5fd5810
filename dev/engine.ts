import { NoEngine, provideEngine } from './engine/provide.ts'

/**
 * Makes sure that this machine has an engine, and prints the folder to add to PATH where one had to be fetched. The
 * exit code is 1 when none can be had.
 */
try {
  const folder = await provideEngine({ env: process.env, output: process.stderr })
  if (folder !== null) console.log(folder)
} catch (error) {
  if (!(error instanceof NoEngine)) throw error
  console.error(error.message)
  process.exitCode = 1
}
