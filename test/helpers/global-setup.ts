import { mkdir, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { addEngineToPath, NoEngine } from '../../dev/engine/provide.ts'
import { isAlive, startPostgres, stopLeftover } from '../../dev/postgres.ts'
import { migrate } from '../../src/data/db/migrate.ts'
import { connect } from '../../src/data/db/pool.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** Address of the server of this run, as superuser. */
    postgres_url: string
  }
}

/** Copied for every test file. */
const TEMPLATE = 'platform_template'

/** Starts one server for each run, so that runs in parallel do not collide. Workers inherit the PATH with an engine. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  await addEngineToPath().catch((error: unknown) => {
    // Many tests run no engine and must work without one.
    if (error instanceof NoEngine) console.error(error.message)
    else throw error
  })
  const base = join(tmpdir(), `platform-test-${process.getuid?.() ?? 0}`)
  await mkdir(base, { recursive: true, mode: 0o755 })
  await removeLeftovers(base)
  const data_dir = join(base, `run-${process.pid}`)
  const server = await startPostgres({ data_dir, durable: false })
  await createTemplate(server.url)
  project.provide('postgres_url', server.url)
  return async () => {
    await server.stop()
    await rm(server.data_dir, { recursive: true, force: true })
  }
}

/** Removes servers and folders of killed runs. */
async function removeLeftovers(base: string): Promise<void> {
  for (const name of await readdir(base)) {
    const folder = join(base, name)
    const pid = Number(name.replace('run-', ''))
    const owner = Number(await readFile(join(folder, 'owner'), 'utf8').catch(() => pid))
    if (!pid || isAlive(pid) || isAlive(owner)) continue
    await stopLeftover(join(folder, 'cluster'))
    await rm(folder, { recursive: true, force: true })
  }
}

async function createTemplate(url: string): Promise<void> {
  const template = new URL(url)
  template.pathname = `/${TEMPLATE}`
  const admin = connect(url, { max: 1 })
  await admin`CREATE DATABASE ${admin(TEMPLATE)}`
  await admin.end()
  const sql = connect(template.href, { max: 2 })
  try {
    await migrate(sql)
  } finally {
    await sql.end()
  }
}
