import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'

const run = promisify(execFile)
const ROOT = join(import.meta.dirname, '../../../..')

/** Prints which of these packages a process has loaded after each import. */
const SCRIPT = `
  import { registerHooks } from 'node:module'
  const loaded = new Set()
  registerHooks({ load(url, context, next) {
    const name = /node_modules\\/(@azure\\/identity|google-auth-library|node-forge)\\//.exec(url)?.[1]
    if (name) loaded.add(name)
    return next(url, context)
  } })
  await import('./sidecars/iac/main.ts')
  const atStart = [...loaded]
  for (const name of ['@azure/identity', 'google-auth-library', 'node-forge']) await import(name)
  console.log(JSON.stringify({ atStart, later: [...loaded] }))
  process.exit(0)
`

it("the vendors' libraries are loaded by the request that needs them and not at the start", async () => {
  const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', SCRIPT], { cwd: ROOT })
  expect(JSON.parse(stdout)).toEqual({ atStart: [], later: ['@azure/identity', 'google-auth-library', 'node-forge'] })
}, 30_000)
