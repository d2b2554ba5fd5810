import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { access, chown, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { connect } from '../../../src/data/db/pool.ts'

const run = promisify(execFile)

export interface DebianPostgres {
  /** Address of the database `postgres`, as superuser. */
  url: string
  /** Runs a program of the same release, such as `pg_dump`; throws with what it wrote when it fails. */
  program(name: string, args: string[]): Promise<void>
  close(): Promise<void>
}

/** The folder of the programs of the server on this machine, which has `pg_dump`, unlike that of the tests; or null. */
export async function findPrograms(): Promise<string | null> {
  try {
    const folder = (await run('pg_config', ['--bindir'])).stdout.trim()
    await access(join(folder, 'initdb'))
    return folder
  } catch {
    const { stdout } = await run('sh', ['-c', 'ls -d /usr/lib/postgresql/*/bin/initdb | sort -V | tail -n 1'])
    return stdout.trim() === '' ? null : dirname(stdout.trim())
  }
}

/** Starts a server with the programs of a folder; under root as the user `postgres`, because the server refuses root. */
export async function startDebianPostgres(folder: string, port: number): Promise<DebianPostgres> {
  const data = await mkdtemp(join(tmpdir(), 'platform-backup-'))
  const user = process.getuid?.() === 0 ? await idsOf('postgres') : null
  if (user) await chown(data, user.uid, user.gid)
  const cluster = join(data, 'cluster')
  const options = { cwd: data, ...user, env: { PATH: process.env.PATH, TZ: 'UTC', LC_ALL: 'C.UTF-8' } }
  const initdb = ['--username=platform', '--auth=trust', '--no-sync', '--encoding=UTF8', '--locale=C.UTF-8']
  await run(join(folder, 'initdb'), [`--pgdata=${cluster}`, ...initdb], options)
  const settings = { port, listen_addresses: '127.0.0.1', unix_socket_directories: data, fsync: 'off' }
  const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  const server = spawn(join(folder, 'postgres'), ['-D', cluster, ...flags], { ...options, stdio: 'ignore' })
  const close = async () => {
    if (server.exitCode === null) {
      server.kill('SIGINT')
      await once(server, 'exit')
    }
    await rm(data, { recursive: true, force: true })
  }
  const url = `postgresql://platform@127.0.0.1:${port}/postgres`
  try {
    await untilReady(url)
  } catch (error) {
    await close()
    throw error
  }
  return {
    url,
    program: async (name, args) => {
      await run(join(folder, name), args, { ...options, maxBuffer: 64 * 1024 * 1024 }).catch((error) => {
        throw new Error(String(error.stderr))
      })
    },
    close,
  }
}

async function idsOf(name: string): Promise<{ uid: number; gid: number }> {
  const ask = async (flag: string) => Number((await run('id', [flag, name])).stdout)
  return { uid: await ask('-u'), gid: await ask('-g') }
}

async function untilReady(url: string): Promise<void> {
  const end = performance.now() + 30_000
  for (;;) {
    const sql = connect(url, { max: 1 })
    try {
      await sql`SELECT 1`
      return
    } catch (error) {
      if (performance.now() > end) throw error
      await new Promise((resolve) => setTimeout(resolve, 200))
    } finally {
      await sql.end({ timeout: 1 })
    }
  }
}
