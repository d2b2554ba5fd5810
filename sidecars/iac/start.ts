import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Fetch } from '../../src/base/http.ts'
import type { Logger } from '../../src/base/log.ts'
import { type RunningServer, serve } from '../shared/serve.ts'
import { createIacApp } from './app.ts'
import { claimDataFolder } from './data-folder.ts'
import { downloadEngine } from './download-engine.ts'
import { stopLeftover } from './engine-process.ts'
import { createExecutor } from './execute-job.ts'
import { findEngine, probeEngine } from './find-engine.ts'
import { credentialsOf } from './hide-credentials.ts'
import { openJobStore } from './job-store.ts'
import { JobService } from './jobs.ts'
import { writeCliConfig } from './limits/cli-config.ts'
import { SchemaCache } from './schema/cache.ts'
import type { IacSettings } from './settings.ts'
import type { Engine } from './types.ts'

const RETENTION_MS = 3_600_000
const SWEEP_MS = 60_000
const LOOPBACK = ['127.0.0.1', '::1', 'localhost']

export interface IacService {
  url: string
  engine: Engine
  /** Ends the engine processes, fails their jobs (503), answers open requests and stops listening. */
  stop(): Promise<void>
}

/** Starts the service; throws `SettingsError` on anything an operator has to correct. */
export async function startIacService(options: {
  settings: IacSettings
  /** Environment of the process; the engine inherits it without the service's own entries. */
  env: Record<string, string | undefined>
  fetch: Fetch
  log: Logger
  now?: () => Date
}): Promise<IacService> {
  const { settings, env, log } = options
  await claimDataFolder(settings.data_dir)
  await mkdir(settings.plugin_cache_dir, { recursive: true })
  const target = `${process.platform}_${process.arch === 'x64' ? 'amd64' : process.arch}`
  const download = () =>
    downloadEngine({
      folder: join(settings.data_dir, 'engine'),
      base_url: settings.download_url,
      target,
      fetch: options.fetch,
      log,
    })
  const binary = await findEngine({
    binary: settings.binary,
    path: env.PATH ?? '',
    download: settings.download ? download : null,
  })
  const engine = await probeEngine(binary, env, log)
  const store = await openJobStore(join(settings.data_dir, 'jobs'))
  const schemas = new SchemaCache(join(settings.data_dir, 'schemas'))
  await schemas.open()
  const cli_config = await writeCliConfig(settings.data_dir, {
    allowed: settings.allowed_providers,
    mirror: settings.provider_mirror,
    offline: settings.offline,
  })
  const now = options.now ?? (() => new Date())
  const jobs = new JobService({
    store,
    execute: createExecutor({ settings, engine, cli_config, schemas, env, store, fetch: options.fetch, log, now }),
    stop_leftover: (leader) => stopLeftover(leader, settings.stop_grace_seconds * 1000),
    max_parallel: settings.max_parallel,
    retention_ms: RETENTION_MS,
    log,
    now,
  })
  await jobs.start()
  const app = createIacApp({ token: settings.token, engine, jobs, store, credentials: credentialsOf(env), log })
  const server: RunningServer = await serve({ fetch: app.fetch, host: settings.host, port: settings.port })
  const sweep = setInterval(
    () => jobs.expire().catch((error) => log.error('old jobs not removed', { error })),
    SWEEP_MS,
  )
  if (!settings.token && !LOOPBACK.includes(settings.host))
    log.warn('PLATFORM_IAC_TOKEN is blank: every request from the network is accepted')
  log.info('iac service ready', { url: server.url, engine: engine.name, version: engine.version })
  return {
    url: server.url,
    engine,
    stop: async () => {
      clearInterval(sweep)
      await Promise.all([jobs.stop(), server.close()])
    },
  }
}
