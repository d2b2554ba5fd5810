import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startObjectStore } from '../../dev/object-store.ts'
import { startRespServer } from '../data/cache/resp-server.ts'
import { ENVIRONMENT } from './core.ts'
import { createTestDatabase } from './postgres.ts'

/** Starts database, object store and cache of a core process. Returns its environment, with a file as configuration. */
export async function startCoreSurroundings() {
  const folder = await mkdtemp(join(tmpdir(), 'core-process-'))
  const database = await createTestDatabase()
  const objects = await startObjectStore({ access_key: 'bundledadmin', secret_key: 'bundledadmin' })
  const redis = await startRespServer()
  const config = join(folder, 'config.yaml')
  const storage = `storage: { endpoint_url: "${objects.url}", public_endpoint_url: "${objects.url}" }`
  await writeFile(config, `${storage}\ntelemetry: { collector_url: "" }\n`)
  const env = {
    ...ENVIRONMENT,
    PLATFORM_SQL_DATABASE_URL: database.url,
    PLATFORM_REDIS_URL: redis.url,
    PLATFORM_CONFIG: config,
  }
  const close = async () => {
    await Promise.all([objects.close(), redis.close(), database.drop()])
    await rm(folder, { recursive: true, force: true })
  }
  return { env, folder, config, database, close }
}
