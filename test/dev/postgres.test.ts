import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { isAlive, type RunningPostgres, startPostgres } from '../../dev/postgres.ts'
import { listen } from '../../dev/server.ts'
import { connect } from '../../src/data/db/pool.ts'

let folder: string
const servers: RunningPostgres[] = []
const folders = new Set<string>()
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'platform-dev-postgres-'))
  await chmod(folder, 0o755)
})
afterEach(async () => {
  for (const server of servers.splice(0)) await server.stop()
  for (const path of [...folders, folder]) await rm(path, { recursive: true, force: true })
})

async function start(options: Partial<Parameters<typeof startPostgres>[0]> = {}): Promise<RunningPostgres> {
  const server = await startPostgres({ data_dir: join(folder, 'data'), durable: false, ...options })
  servers.push(server)
  folders.add(server.data_dir)
  return server
}

async function query<T>(url: string, work: (sql: ReturnType<typeof connect>) => Promise<T>): Promise<T> {
  const sql = connect(url, { max: 1 })
  try {
    return await work(sql)
  } finally {
    await sql.end()
  }
}

async function startInOtherProcess() {
  const file = fileURLToPath(new URL('./fixtures/postgres-owner.ts', import.meta.url))
  const owner = spawn(process.execPath, [file, join(folder, 'data')], { stdio: ['ignore', 'pipe', 'inherit'] })
  const [line] = await once(createInterface({ input: owner.stdout }), 'line')
  const { pid, url }: { pid: number; url: string } = JSON.parse(line)
  return { owner, pid, url }
}

describe('startPostgres', () => {
  it('keeps the data from one start to the next, on the loopback address behind a password', async () => {
    const first = await start()
    await query(first.url, (sql) => sql`CREATE TABLE kept AS SELECT 42 AS answer`)
    await first.stop()
    expect(isAlive(first.pid)).toBe(false)
    const second = await start()
    expect(await query(second.url, (sql) => sql`SELECT answer FROM kept`)).toEqual([{ answer: 42 }])
    const url = new URL(second.url)
    expect(url.hostname).toBe('127.0.0.1')
    url.password = 'wrong'
    await expect(query(url.href, (sql) => sql`SELECT 1`)).rejects.toThrow('password authentication failed')
  })

  it('leaves the server of a living process alone, and stops the one that a killed owner left behind', async () => {
    const { owner, pid, url } = await startInOtherProcess()
    await query(url, (sql) => sql`CREATE TABLE kept AS SELECT 1 AS one`)
    await expect(start()).rejects.toThrow(`is in use by process ${owner.pid}`)
    expect(isAlive(pid)).toBe(true)
    owner.kill('SIGKILL')
    await once(owner, 'exit')
    expect(isAlive(pid)).toBe(true)
    const server = await start()
    expect(isAlive(pid)).toBe(false)
    expect(await query(server.url, (sql) => sql`SELECT one FROM kept`)).toHaveLength(1)
  })

  it('says that a port is busy', async () => {
    const { port, close } = await listen(createServer())
    await expect(start({ port })).rejects.toThrow(`port ${port} is in use`)
    await close()
    expect((await start({ port })).port).toBe(port)
  })

  it.runIf(process.getuid?.() === 0)('finds another folder when the server cannot enter the given one', async () => {
    const closed = join(folder, 'closed')
    await mkdir(closed, { mode: 0o700 })
    const first = await start({ data_dir: join(closed, 'data') })
    expect(first.data_dir.startsWith(closed)).toBe(false)
    await query(first.url, (sql) => sql`CREATE TABLE kept AS SELECT 1 AS one`)
    await first.stop()
    const second = await start({ data_dir: join(closed, 'data') })
    expect(second.data_dir).toBe(first.data_dir)
    expect(await query(second.url, (sql) => sql`SELECT one FROM kept`)).toHaveLength(1)
  })
})
