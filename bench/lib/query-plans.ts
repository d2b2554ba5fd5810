import { connect } from '../../src/data/db/pool.ts'
import type { Sql } from '../../src/data/db/sql.ts'

/** Runs `work` with a pool whose server reports plan and times of every statement. Returns the reports in order. */
export async function recordPlans(url: string, work: (sql: Sql) => Promise<unknown>): Promise<string[]> {
  const setup = connect(url, { max: 1 })
  const [name] = await setup<{ name: string }[]>`SELECT current_database() AS name`
  const database = setup(name?.name ?? '')
  const settings = {
    session_preload_libraries: 'auto_explain',
    'auto_explain.log_min_duration': '0',
    'auto_explain.log_analyze': 'on',
    client_min_messages: 'log',
  }
  const reports: string[] = []
  for (const [key, value] of Object.entries(settings))
    await setup.unsafe(`ALTER DATABASE "${database.identifier}" SET ${key} = '${value}'`)
  const explained = connect(url, { max: 1, onnotice: (notice) => reports.push(String(notice.message)) })
  try {
    await work(explained)
    return reports.filter((report) => report.includes('plan:'))
  } finally {
    await explained.end({ timeout: 1 })
    for (const key of Object.keys(settings)) await setup.unsafe(`ALTER DATABASE "${database.identifier}" RESET ${key}`)
    await setup.end({ timeout: 1 })
  }
}
