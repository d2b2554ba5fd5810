import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Fetch } from '../../src/base/http.ts'
import type { Logger } from '../../src/base/log.ts'
import { runService, type Service } from '../shared/run-service.ts'
import { createIacApp } from './app.ts'
import { claimDataFolder } from './data-folder.ts'
import { withoutMissingCliConfig } from './engine/cli-config-file.ts'
import { downloadEngine } from './engine/download.ts'
import { findEngine, PLATFORM, probeEngine } from './engine/find.ts'
import { removeIncoming } from './engine/plugin-cache.ts'
import { formatFolder } from './format/job.ts'
import { createExecutor } from './jobs/execute.ts'
import { planFolder } from './jobs/plan-copy.ts'
import { JobService } from './jobs/service.ts'
import { openJobStore } from './jobs/store.ts'
import { OVERRIDE_NAME } from './jobs/surroundings.ts'
import { openCliConfig } from './limits/providers.ts'
import { JobSecrets } from './output/job-secrets.ts'
import { credentialsOf } from './output/masking.ts'
import type { Executor } from './sandbox/executor.ts'
import { openExecutor } from './sandbox/open.ts'
import { SchemaCache } from './schema/cache.ts'
import { type IacSettings, readSettings } from './settings.ts'
import type { Engine } from './types.ts'

/** Time for which an ended job can be read. */
const RETENTION_MS = 3_600_000
const SWEEP_MS = 60_000

interface Surroundings {
  /** Environment of the process; the engine inherits it without the service's own entries. */
  env: Readonly<Record<string, string | undefined>>
  fetch: Fetch
  now?: () => Date
}

/** Runs engine commands as jobs until it is stopped. */
export const main = (): Promise<void> => runService(iacService({ env: process.env, fetch }))

/** Creates the service. On stop the engines are interrupted and their jobs fail with 503. */
export function iacService(given: Surroundings): Service<IacSettings> {
  return {
    name: 'iac',
    tokenVariable: 'PLATFORM_IAC_TOKEN',
    readSettings,
    open: async (settings, log) => {
      const surroundings = { ...given, env: await withoutMissingCliConfig(given.env, log) }
      await claimDataFolder(settings.dataDir)
      await mkdir(settings.pluginCacheDir, { recursive: true })
      await removeIncoming(settings.pluginCacheDir)
      const engine = await openEngine(settings, surroundings, log)
      const executor = await openExecutor({ settings, binary: engine.binary, env: surroundings.env, log })
      for (const left of [planFolder(settings.dataDir), formatFolder(settings.dataDir)])
        await rm(left, { recursive: true, force: true })
      const store = await openJobStore(join(settings.dataDir, 'jobs'))
      const secrets = new JobSecrets(credentialsOf(surroundings.env), OVERRIDE_NAME)
      const jobs = await openJobs({ settings, surroundings, engine, executor, store, secrets, log })
      const { boundary } = executor
      const app = createIacApp({ token: settings.token, engine, boundary, jobs, store, secrets, log })
      const sweep = setInterval(
        () => jobs.expire().catch((error) => log.error('old jobs not removed', { error })),
        SWEEP_MS,
      )
      return {
        fetch: (request) => app.fetch(request),
        readyFields: { engine: engine.name, version: engine.version, ...boundary },
        close: async () => {
          clearInterval(sweep)
          await jobs.stop()
          await executor.close()
        },
      }
    },
  }
}

/** Finds the engine, or downloads it if allowed, and reads its version. Errors: `SettingsError`. */
async function openEngine(settings: IacSettings, { env, fetch }: Surroundings, log: Logger): Promise<Engine> {
  const download = () =>
    downloadEngine({
      folder: join(settings.dataDir, 'engine'),
      baseUrl: settings.downloadUrl,
      target: PLATFORM,
      fetch,
      log,
    })
  const binary = await findEngine({
    binary: settings.binary,
    path: env.PATH ?? '',
    download: settings.download ? download : null,
  })
  return probeEngine(binary, env, log)
}

/** Loads the jobs of an earlier process and accepts new ones. */
async function openJobs(options: {
  settings: IacSettings
  surroundings: Surroundings
  engine: Engine
  executor: Executor
  store: Awaited<ReturnType<typeof openJobStore>>
  secrets: JobSecrets
  log: Logger
}): Promise<JobService> {
  const { settings, engine, executor, store, secrets, log } = options
  const { env, fetch, now = () => new Date() } = options.surroundings
  const schemas = new SchemaCache(join(settings.dataDir, 'schemas'))
  await schemas.open()
  const cliConfig = await openCliConfig(settings.dataDir, {
    allowed: settings.allowedProviders,
    mirror: settings.providerMirror,
    mirrorAndRegistry: settings.mirrorAndRegistry,
    offline: settings.offline,
  })
  const jobs = new JobService({
    store,
    execute: createExecutor({ settings, engine, executor, cliConfig, schemas, env, store, secrets, fetch, log, now }),
    stopLeftover: (leader) => executor.stopLeftover(leader),
    maxParallel: settings.maxParallel,
    retentionMs: RETENTION_MS,
    log,
    now,
  })
  await jobs.start()
  return jobs
}
