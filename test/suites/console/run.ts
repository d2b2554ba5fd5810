import { spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { request } from '@playwright/test'
import { buildConsole } from '../../../console/build/build.ts'
import { addEngineForStack } from '../../../dev/engine/provide.ts'
import { createSampleStates, ROOTS_AT_START } from '../../../dev/sample-state/prepare.ts'
import { startStack } from '../../../dev/stack/start-stack.ts'
import { findChromium } from './chromium.ts'
import { findOrRunExample } from './world.ts'

const HELP = `Drives the console in a real browser against the embedded stack.

Usage: npm run test:console [-- arguments of playwright test]

  npm run test:console -- review            the files whose name has "review"
  npm run test:console -- --update-snapshots

Environment
  CHROMIUM       path of the browser (default: chromium, chromium-browser or google-chrome on PATH)
  CONSOLE_URL    an embedded stack that runs already, http://127.0.0.1:8000 for example; none is started then
  CONSOLE_DATA   data folder of that stack
  CONSOLE_PICTURES  true: the pictures of docs/console are made anew`

/** The sessions that several files of tests use. */
const SHARED = ['generate', 'exhausted', 'blocked', 'full-drift', 'import-preview'] as const

async function main(args: string[]): Promise<number> {
  if (args.includes('--help')) {
    console.log(HELP)
    return 0
  }
  const chromium = await findChromium()
  const running = process.env.CONSOLE_URL
  if (running) return play(args, { CHROMIUM: chromium, CONSOLE_URL: running })
  await addEngineForStack()
  const folder = await mkdtemp(join(tmpdir(), 'console-test-'))
  const built = buildConsole()
  const stack = await startStack({ folder, env: process.env, embedded: true, before_core: built })
  try {
    await built
    if (stack.git_host) {
      const states = await createSampleStates(folder, stack.git_host.repositories)
      for (const root of ROOTS_AT_START) await states.prepare(root)
    }
    process.env.CONSOLE_DATA = folder
    const api = await request.newContext({ baseURL: stack.url })
    // Sessions for several files are made first, before any file resets a sample.
    for (const name of SHARED) await findOrRunExample(api, name)
    return await play(args, { CHROMIUM: chromium, CONSOLE_URL: stack.url, CONSOLE_DATA: folder })
  } finally {
    await stack.stop()
    await rm(folder, { recursive: true, force: true })
  }
}

function play(args: string[], env: Record<string, string>): Promise<number> {
  const config = join(import.meta.dirname, 'playwright.config.ts')
  const cli = join(import.meta.dirname, '../../../node_modules/@playwright/test/cli.js')
  const child = spawn(process.execPath, [cli, 'test', '-c', config, ...args], {
    stdio: 'inherit',
    env: { ...process.env, ...env },
  })
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (code) => resolve(code ?? 1))
  })
}

process.exitCode = await main(process.argv.slice(2))
