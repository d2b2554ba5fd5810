import { lstat, mkdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import * as v from 'valibot'
import type { Fetch } from '../../src/base/http.ts'
import { parseJson } from '../../src/base/json.ts'
import type { Logger } from '../../src/base/log.ts'
import { replaceFile } from '../../src/runtime/files.ts'
import { identify, isAlive } from '../../src/runtime/process-identity.ts'
import { runService, type Service } from '../shared/run-service.ts'
import { SettingsError } from '../shared/settings.ts'
import { createIacApp } from './app.ts'
import { withoutMissingCliConfig } from './engine/command.ts'
import { downloadEngine } from './engine/download.ts'
import { findEngine, PLATFORM, probeEngine } from './engine/find.ts'
import { removeIncoming } from './engine/plugin-cache.ts'
import { createExecutor } from './jobs/execute.ts'
import { formatFolder } from './jobs/format.ts'
import { planFolder } from './jobs/plan-copy.ts'
import { JobService } from './jobs/service.ts'
import { openJobStore } from './jobs/store.ts'
import { openCliConfig } from './limits/providers.ts'

import { createJobSecrets, credentialsOf } from './output/secrets.ts'
import { OVERRIDE_NAME } from './sandbox/environment.ts'
import { openExecutor } from './sandbox/open.ts'
import { createSchemaCache } from './schema/cache.ts'
import { type IacSettings, readSettings } from './settings.ts'
import type { Engine } from './types.ts'

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
      if (settings.workspaceRoot === '')
        log.warn('IAC_WORKSPACE_ROOT is not set: jobs may name any folder as workspace')
      await claimDataFolder(settings.dataDir)
      await mkdir(settings.pluginCacheDir, { recursive: true })
      await removeIncoming(settings.pluginCacheDir)
      const engine = await openEngine(settings, surroundings, log)
      const executor = await openExecutor({ settings, binary: engine.binary, env: surroundings.env, log })
      for (const left of [planFolder(settings.dataDir), formatFolder(settings.dataDir)])
        await rm(left, { recursive: true, force: true })
      const store = await openJobStore(join(settings.dataDir, 'jobs'))
      const secrets = createJobSecrets(credentialsOf(surroundings.env), OVERRIDE_NAME)
      const schemas = createSchemaCache(join(settings.dataDir, 'schemas'))
      await schemas.open()
      const { allowedProviders: allowed, providerMirror: mirror, mirrorAndRegistry, offline } = settings
      const cliConfig = await openCliConfig(settings.dataDir, { allowed, mirror, mirrorAndRegistry, offline })
      const { env, fetch, now = () => new Date() } = surroundings
      const context = { settings, engine, executor, cliConfig, schemas, env, store, secrets, fetch, log, now }
      const jobs = new JobService({
        store,
        execute: createExecutor(context),
        stopLeftover: (leader) => executor.stopLeftover(leader),
        maxParallel: settings.maxParallel,
        maxQueued: settings.maxQueued,
        retentionMs: 3_600_000,
        log,
        now,
      })
      await jobs.start()
      const { boundary } = executor
      const app = createIacApp({ engine, boundary, jobs, store, secrets, settings, log })
      const expire = () => jobs.expire().catch((error) => log.error('old jobs not removed', { error }))
      const sweep = setInterval(expire, 60_000)
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
  const folder = join(settings.dataDir, 'engine')
  const download = () => downloadEngine({ folder, baseUrl: settings.downloadUrl, target: PLATFORM, fetch, log })
  const found = { binary: settings.binary, path: env.PATH ?? '', download: settings.download ? download : null }
  return probeEngine(await findEngine(found), env, log)
}

const Holder = v.object({ pid: v.pipe(v.number(), v.integer()), started: v.string() })

/** Claims the folder: two services on it would end each other's engines. Errors: `SettingsError`. */
async function claimDataFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const stat = await lstat(folder)
  const uid = process.getuid?.()
  // In the shared temporary directory another user could have created the folder to read plans and state.
  if (!stat.isDirectory() || (uid !== undefined && stat.uid !== uid))
    throw new SettingsError(`IAC_DATA_DIR ${folder} is no directory of this user`)
  const claim = join(folder, 'service.json')
  const holder = v.safeParse(Holder, parseJson(await readFile(claim, 'utf8').catch(() => '')))
  if (holder.success && holder.output.pid !== process.pid && isAlive(holder.output))
    throw new SettingsError(
      `IAC_DATA_DIR ${folder} is in use by process ${holder.output.pid}; give each service a folder of its own`,
    )
  await replaceFile(claim, JSON.stringify(identify(process.pid)))
}
