import { configWarnings } from '../../config/check.ts'
import type { Config, GitConfig } from '../../config/types.ts'
import type { Logger } from '../base/log.ts'
import type { Context } from '../context.ts'
import { connectCache } from '../data/cache/cache.ts'
import { exclusively, migrate } from '../data/db/migrate.ts'
import { connect } from '../data/db/pool.ts'
import type { Sql } from '../data/db/sql.ts'
import { createSendingQueue } from '../data/queue.ts'
import { createObjectStore } from '../data/storage/create.ts'
import { createStateKeys } from '../data/storage/state-keys.ts'
import type { LlmClient } from '../llm/inference.ts'
import {
  createMetrics,
  type PlatformMetrics,
  watchBudgets,
  watchCache,
  watchQueue,
  watchStorage,
} from '../observe/metrics.ts'
import { createTracing } from '../observe/tracing.ts'
import { isOperatorsHost } from '../repository/remote.ts'
import { createIacClient } from '../services/iac/client.ts'
import type { IacClient } from '../services/iac/contract.ts'
import { createFetch, createPinnedFetch, resolveHost } from './fetch.ts'
import { createLineWriter, readTextFile } from './files.ts'
import { openPrompts, withoutMissingCollector } from './prompts.ts'
import { roundsThatFit } from './worker-size.ts'

/**
 * Connects all clients of a core or worker process, in boot order. Throws `Failed to initialize database: <reason>`,
 * the same with `redis` and `object storage`, and the errors of `openPrompts`. On an error, open clients are
 * closed.
 * @returns also a function that closes cache and database, in this order, but not tracing and other clients
 */
export async function buildContext(loaded: Config, log: Logger, role: 'core' | 'worker') {
  const closers: (() => Promise<void>)[] = []
  const close = async () => {
    for (const closer of closers.splice(0).reverse()) await closer()
  }
  const fetch = createFetch()
  const config = await withoutMissingCollector(loaded, resolveHost, log)
  const metrics = createMetrics(role, config.version)
  try {
    for (const warning of configWarnings(config)) log.warn(warning)
    const sql = await initialize('database', () => openDatabase(config, log, role))
    closers.push(() => sql.end({ timeout: 1 }))
    const cache = await initialize('redis', async () => {
      const connected = await connectCache(config.redis, log, fetch, metrics.countCacheCall)
      // Registered first, in case the check fails.
      closers.push(() => connected.close())
      await connected.ping()
      watchCache(metrics.registry, connected)
      return connected
    })
    const stores = createStores(config, log, role)
    await initialize('object storage', () => stores.storage.ensureBuckets())
    watchStorage(metrics.registry, stores.storage)
    const alone = <T>(work: () => Promise<T>) => exclusively(sql, 'seed_prompts', work)
    const prompts = await openPrompts(config, role, { fetch, log, alone })
    const queue = createSendingQueue(sql)
    watchQueue(metrics.registry, sql)
    const loadLlm = async () => {
      const { createLlmClient } = await import('../llm/client.ts')
      return countTokens(createLlmClient(config.llm, { fetch, log, readFile: readTextFile }), metrics)
    }
    const context: Context & { metrics: PlatformMetrics } = {
      config,
      log,
      fetch,
      sql,
      cache,
      queue,
      ...stores,
      prompts,
      // The core calls a model only for the texts of pull requests, so it loads the library on demand.
      llm: role === 'core' ? createLazyLlmClient(loadLlm) : await loadLlm(),
      iac: countEngineTime(createIacClient(config.services.iac, { fetch, log }), metrics),
      resolver: resolveHost,
      pinnedFetch: createPinnedFetch(await readOwnAuthority(config.git, log)),
      now: () => new Date(),
      metrics,
      tracing: createTracing(config, { fetch, log, write: createLineWriter() }),
    }
    watchBudgets(metrics.registry, context)
    return { context, close }
  } catch (error) {
    await close().catch(() => {})
    throw error
  }
}

/** Creates a client that is loaded on its first call, for a process that rarely calls a model: the library is large. */
export function createLazyLlmClient(load: () => Promise<LlmClient>): LlmClient {
  let loading: Promise<LlmClient> | null = null
  const client = () => {
    loading ??= load()
    return loading
  }
  return {
    complete: async (request) => (await client()).complete(request),
    search: async (query, options) => (await client()).search(query, options),
  }
}

/** Wraps a client to count the tokens of each answer and search. */
export const countTokens = (llm: LlmClient, metrics: PlatformMetrics): LlmClient => ({
  ...llm,
  complete: async (request) => {
    const answer = await llm.complete(request)
    metrics.countTokens(request.role, answer.usage)
    return answer
  },
  search: (query, options) =>
    llm.search(query, {
      ...options,
      observe: (used) => {
        metrics.countTokens(options?.role ?? 'small', used.usage)
        options?.observe?.(used)
      },
    }),
})

/** Wraps a client to measure the time of each kind of job, including failed jobs. */
export const countEngineTime = (iac: IacClient, metrics: PlatformMetrics): IacClient => ({
  ...iac,
  run: async (kind, body, options) => {
    const started = performance.now()
    try {
      return await iac.run(kind, body, options)
    } finally {
      metrics.countEngineTime(kind, (performance.now() - started) / 1000)
    }
  },
})

/** Creates the bucket of artifacts and, when the platform manages engine state, the bucket of states and its keys. */
function createStores(
  config: Config,
  log: Logger,
  role: 'core' | 'worker',
): Pick<Context, 'storage' | 'stateStore' | 'stateKeys'> {
  const { read_timeout, connect_timeout, engine_state_bucket } = config.storage
  const deps = {
    fetch: createFetch(read_timeout * 1000, connect_timeout * 1000),
    log,
    patient: role === 'worker',
    cors_origins: config.http.cors_origins,
    readFile: readTextFile,
  }
  const storage = createObjectStore(config.storage, deps)
  if (engine_state_bucket === '') return { storage }
  const stateKeys = createStateKeys(config, deps)
  return {
    storage,
    stateStore: createObjectStore({ ...config.storage, bucket: engine_state_bucket }, deps),
    ...(stateKeys && { stateKeys }),
  }
}

/** Reads the authority of `git.ca_file`, which is trusted only for the hosts that the operator named. */
async function readOwnAuthority(git: GitConfig, log: Logger): Promise<Parameters<typeof createPinnedFetch>[0]> {
  if (git.ca_file === '') return undefined
  const caPem = await readTextFile(git.ca_file).catch(() => null)
  if (caPem === null) log.warn(`git.ca_file ${git.ca_file} cannot be read`)
  return caPem === null ? undefined : { caPem, trusted: (url) => isOperatorsHost(git, url) }
}

async function openDatabase(config: Config, log: Logger, role: 'core' | 'worker'): Promise<Sql> {
  // A round that waits for its model needs none, except for moments.
  const max = role === 'worker' ? 10 + Math.ceil((config.worker.concurrency || roundsThatFit()) / 5) : 10
  const sql = connect(config.database.url, {
    max,
    directUrl: config.database.direct_url,
    readFile: readTextFile,
    onnotice: (notice) => log.debug('database', { notice: notice.message }),
    onHearing: (hears) => (hears ? log.info('notifications of the database arrive again') : log.warn(deafness(config))),
  })
  try {
    await migrate(sql)
    return sql
  } catch (error) {
    await sql.end({ timeout: 1 })
    throw error
  }
}

/** Says that notifications do not arrive, why that may be, and what it costs. */
function deafness({ database }: Config): string {
  const { platform_database_url_env, platform_direct_url_env, direct_url } = database
  const cause =
    direct_url === ''
      ? `${platform_database_url_env} leads through a pooler that changes sessions: ` +
        `set ${platform_direct_url_env} to an address past it`
      : `${platform_direct_url_env} leads through such a pooler too, or to another database`
  return `notifications of the database do not arrive, so changes are looked for every second; ${cause}`
}

async function initialize<T>(name: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (cause) {
    throw new Error(`Failed to initialize ${name}: ${reasonOf(cause)}`, { cause })
  }
}

/** Returns the text of an error. If all addresses of a host failed, only the parts of Node's error have a text. */
function reasonOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === '') return reasonOf(error.errors[0])
  if (!(error instanceof Error)) return 'unknown error'
  return error.message || ('code' in error ? String(error.code) : error.name)
}
