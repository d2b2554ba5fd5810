import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { Unavailable } from '../world/part.ts'
import { type ChartTools, openCache, prepareTools } from './tools.ts'

const ROOT = join(import.meta.dirname, '../../..')
const SURROUNDINGS = { minutesLeft: () => 30, say: (text: string) => console.log(text) }

async function runTests(tools: ChartTools): Promise<number> {
  const vitest = join(ROOT, 'node_modules/vitest/vitest.mjs')
  const args = ['run', '--project', 'chart', ...process.argv.slice(2)]
  const env = { ...process.env, CHART_TOOLS: JSON.stringify(tools) }
  const tests = spawn(process.execPath, [vitest, ...args], { cwd: ROOT, env, stdio: 'inherit' })
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => tests.kill(signal))
  const [code] = await once(tests, 'exit')
  return typeof code === 'number' ? code : 1
}

async function main(): Promise<number> {
  try {
    return await runTests(await prepareTools({ cache: await openCache(), ...SURROUNDINGS }))
  } catch (error) {
    if (!(error instanceof Unavailable)) throw error
    console.error(`\n*** THE TESTS OF THE CHART WERE SKIPPED: ${error.message} ***\n`)
    return 0
  }
}

process.exitCode = await main()
