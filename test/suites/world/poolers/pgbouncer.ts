import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import postgres from 'postgres'
import { freePort, startService } from '../tools/service.ts'

/** The installed versions, from `part.ts`. */
export const poolers: { name: string; command: string[] }[] = JSON.parse(process.env.POOLERS ?? '[]')

export interface Pooler {
  /** The address of a database through the pooler. */
  through(databaseUrl: string, query?: string): string
  /** Statements that it has passed on, without those of itself. */
  statements(): Promise<number>
  output(): string
  stop(): Promise<void>
}

/** Starts a pooler before the server of `serverUrl`, for all of its databases. */
export async function startPooler(
  [program = '', ...args]: string[],
  serverUrl: string,
  mode: 'transaction' | 'session' | 'statement',
  settings: Record<string, string | number> = {},
): Promise<Pooler> {
  const server = new URL(serverUrl)
  const folder = await mkdtemp(join(tmpdir(), 'pooler-'))
  const port = await freePort()
  const users = join(folder, 'users.txt')
  await writeFile(users, `"${server.username}" "${server.password}"\n`, { mode: 0o644 })
  const all = {
    listen_addr: '127.0.0.1',
    listen_port: port,
    unix_socket_dir: '',
    auth_type: 'scram-sha-256',
    auth_file: users,
    admin_users: server.username,
    pool_mode: mode,
    default_pool_size: 4,
    max_client_conn: 200,
    ...(process.getuid?.() === 0 && { user: 'nobody' }),
    ...settings,
  }
  const lines = Object.entries(all).map(([name, value]) => `${name} = ${value}`)
  const file = join(folder, 'pgbouncer.ini')
  const databases = `[databases]\n* = host=127.0.0.1 port=${server.port}\n`
  await writeFile(file, `${databases}[pgbouncer]\n${lines.join('\n')}\n`, { mode: 0o644 })
  // It gives up the rights of root before it reads them again.
  await chmod(folder, 0o755)
  const through = (databaseUrl: string, query = '') => {
    const url = new URL(databaseUrl)
    url.port = String(port)
    url.search = query
    return url.href
  }
  // Its console understands no statement of our own connections.
  const ask = async (text: string) => {
    const sql = postgres(through(new URL('/pgbouncer', serverUrl).href), { max: 1, fetch_types: false })
    return await sql.unsafe(text).finally(() => sql.end())
  }
  const service = await startService(program, [...args, file], { ready: () => ask('SHOW VERSION') })
  return {
    through,
    statements: async () => {
      const rows = await ask('SHOW STATS')
      return rows
        .filter(({ database }) => database !== 'pgbouncer')
        .reduce((sum, row) => sum + Number(row.total_query_count), 0)
    },
    output: service.output,
    stop: async () => {
      await service.stop()
      await rm(folder, { recursive: true, force: true })
    },
  }
}
