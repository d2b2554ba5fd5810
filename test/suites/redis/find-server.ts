import { execFile } from 'node:child_process'
import { access, constants } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

/**
 * Returns the path of a `redis-server` on `PATH`, else installs it with apt-get. Errors: the reason why there is none.
 */
export async function findServer(): Promise<string> {
  const present = await onPath('redis-server')
  if (present) return present
  if (!(await onPath('apt-get')))
    throw new Error('redis-server is not on PATH and there is no apt-get to install it with')
  if (process.getuid?.() !== 0)
    throw new Error('redis-server is not on PATH, and installing it with apt-get needs root')
  console.log('installing redis-server with apt-get')
  // Run level 1: the package starts no service of its own.
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' }
  await apt(['update'], env)
  await apt(['install', '-y', '--no-install-recommends', 'redis-server'], env)
  const installed = await onPath('redis-server')
  if (!installed) throw new Error('apt-get installed no redis-server')
  return installed
}

async function apt(args: string[], env: NodeJS.ProcessEnv): Promise<void> {
  await run('apt-get', args, { env, timeout: 300_000, maxBuffer: 64 * 1024 * 1024 }).catch(
    (error: Error & { stderr?: string }) => {
      throw new Error(`apt-get ${args[0]} failed: ${(error.stderr || error.message).trim()}`)
    },
  )
}

async function onPath(name: string): Promise<string | null> {
  for (const folder of (process.env.PATH ?? '').split(delimiter)) {
    const file = join(folder, name)
    if (folder !== '' && (await executable(file))) return file
  }
  return null
}

const executable = (file: string): Promise<boolean> =>
  access(file, constants.X_OK).then(
    () => true,
    () => false,
  )
