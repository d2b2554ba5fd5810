import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startObjectStore } from '../../../../dev/object-store.ts'
import { startPostgres } from '../../../../dev/postgres.ts'
import { connect } from '../../../../src/data/db/pool.ts'
import type { Sql } from '../../../../src/data/db/sql.ts'
import { startRespServer } from '../../../data/cache/resp-server.ts'
import { type CoreProcess, startCoreProcess } from '../../../helpers/core-process.ts'

export interface Platform {
  url: string
  sql: Sql
  core: CoreProcess
  close(): Promise<void>
}

/**
 * Starts a core with its database and its store, without workers.
 * @param yaml the sections of the configuration beside database, storage and `http`
 * @param origins value of `http.cors_origins`
 */
export async function startPlatform(yaml: string, origins: string[] = []): Promise<Platform> {
  const folder = await mkdtemp(join(tmpdir(), 'console-core-'))
  const database = await startPostgres({ data_dir: join(folder, 'postgres'), durable: false })
  const keys = { access_key: 'access', secret_key: 'secret' }
  const store = await startObjectStore({ data_dir: join(folder, 'objects'), ...keys })
  const cache = await startRespServer()
  const config = join(folder, 'platform.yaml')
  await writeFile(
    config,
    `${yaml}
http: { cors_origins: ${JSON.stringify(origins)} }
storage: { endpoint_url: "${store.url}", public_endpoint_url: "${store.url}" }
telemetry: { collector_url: "" }
`,
  )
  const core = await startCoreProcess({
    PLATFORM_CONFIG: config,
    PLATFORM_SQL_DATABASE_URL: database.url,
    PLATFORM_REDIS_URL: cache.url,
    PLATFORM_IAC_TOKEN: 'iac-token',
    BUNDLED_ACCESS_KEY: keys.access_key,
    BUNDLED_SECRET_KEY: keys.secret_key,
    ANTHROPIC_API_KEY: 'none',
    GIT_USER: 'bot',
    GIT_TOKEN: 'token',
  })
  const sql = connect(database.url, { max: 2 })
  return {
    url: core.ready.address,
    sql,
    core,
    close: async () => {
      await core.stop()
      await sql.end()
      await store.close()
      await cache.close()
      await database.stop()
      await rm(database.data_dir, { recursive: true, force: true })
      await rm(folder, { recursive: true, force: true })
    },
  }
}
