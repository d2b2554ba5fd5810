import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startCache } from '../../../dev/cache.ts'
import { startObjectStore } from '../../../dev/object-store.ts'
import { startPostgres } from '../../../dev/postgres.ts'
import { connect } from '../../../src/data/db/pool.ts'
import type { Sql } from '../../../src/data/db/sql.ts'
import { startRespServer } from '../../data/cache/resp-server.ts'

export interface Stores {
  /** The core's environment, with the cache behind its REST dialect. */
  env: Record<string, string>
  /** The same cache under its own protocol, for a `redis://` address. */
  redis_url: string
  sql: Sql
  close(): Promise<void>
}

/** Starts database, cache and object store on this machine, for all runtimes one after the other. */
export async function startStores(): Promise<Stores> {
  const folder = await mkdtemp(join(tmpdir(), 'platform-runtimes-'))
  const postgres = await startPostgres({ data_dir: join(folder, 'postgres'), durable: false })
  const cache = await startCache({ token: 'cache-token' })
  const redis = await startRespServer()
  const keys = { access_key: 'runtimes', secret_key: 'runtimes-secret' }
  const objects = await startObjectStore({ ...keys, data_dir: join(folder, 'objects') })
  const config = join(folder, 'config.yaml')
  await writeFile(
    config,
    `storage: { endpoint_url: "${objects.url}", public_endpoint_url: "${objects.url}" }\n` +
      'telemetry: { collector_url: "" }\n',
  )
  const sql = connect(postgres.url, { max: 2 })
  return {
    env: {
      PLATFORM_CONFIG: config,
      PLATFORM_HOST: '127.0.0.1',
      PLATFORM_PORT: '0',
      PLATFORM_SQL_DATABASE_URL: postgres.url,
      PLATFORM_REDIS_URL: cache.platform_url,
      PLATFORM_IAC_TOKEN: 'iac-token',
      ANTHROPIC_API_KEY: 'not-used-here',
      BUNDLED_ACCESS_KEY: keys.access_key,
      BUNDLED_SECRET_KEY: keys.secret_key,
    },
    redis_url: redis.url,
    sql,
    close: async () => {
      await sql.end({ timeout: 1 })
      await Promise.all([cache.close(), redis.close(), objects.close()])
      await postgres.stop()
      await rm(folder, { recursive: true, force: true })
    },
  }
}
