import { execFile } from 'node:child_process'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { type RunningPostgres, startPostgres } from '../../../dev/postgres.ts'
import { connect } from '../../../src/data/db/pool.ts'

const run = promisify(execFile)

/** Starts a standby of a running server, to which the primary sends each commit before it answers. */
export async function addStandby(primary: RunningPostgres): Promise<RunningPostgres> {
  const sql = connect(primary.url, { max: 1 })
  const data_dir = `${primary.data_dir}-standby`
  const cluster = join(data_dir, 'cluster')
  try {
    await sql`SELECT pg_backup_start('standby', true)`
    await run('cp', ['-a', primary.data_dir, data_dir])
    const [backup] = await sql<{ labelfile: string }[]>`SELECT labelfile FROM pg_backup_stop(false)`
    await rm(join(cluster, 'postmaster.pid'))
    await rm(join(data_dir, 'owner'))
    await writeFile(join(cluster, 'backup_label'), backup?.labelfile ?? '')
    await writeFile(join(cluster, 'standby.signal'), '')
    const { username, password, port } = new URL(primary.url)
    const source = `host=127.0.0.1 port=${port} user=${username} password=${password} application_name=standby`
    await writeFile(join(cluster, 'postgresql.auto.conf'), `primary_conninfo = '${source}'\n`)
    await run('chown', ['-R', `--reference=${join(cluster, 'base')}`, cluster]).catch(() => {})
    const standby = await startPostgres({ data_dir })
    await sql`ALTER SYSTEM SET synchronous_standby_names = 'standby'`
    await sql`SELECT pg_reload_conf()`
    return standby
  } finally {
    await sql.end({ timeout: 1 })
  }
}

/** Has a statement carried out as superuser. */
export async function tell(server: RunningPostgres, ...statements: string[]): Promise<void> {
  const admin = connect(server.url, { max: 1 })
  for (const statement of statements) await admin.unsafe(statement)
  await admin.end({ timeout: 1 })
}
