import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { buildConsole } from '../../../../console/build/build.ts'

// The tests of the sign-in start a core of their own: no other stack is needed, only what it serves.
await buildConsole()
const run = join(import.meta.dirname, '../../console/run.ts')
const child = spawn(process.execPath, [run, 'sign-in.spec', '--retries=2'], {
  stdio: 'inherit',
  env: { ...process.env, CONSOLE_URL: 'http://127.0.0.1:9' },
})
const [code] = await once(child, 'exit')
process.exitCode = code ?? 1
