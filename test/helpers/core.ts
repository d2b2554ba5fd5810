import type { Hono } from 'hono'
import { loadConfig } from '../../config/load.ts'
import type { Config } from '../../config/types.ts'
import { createApp } from '../../routes/app.ts'
import type { AppEnv, CoreContext } from '../../routes/env.ts'
import { createLogger } from '../../src/base/log.ts'
import { createSendingQueue } from '../../src/data/queue.ts'
import { startEventHub } from '../../src/events/hub.ts'
import { createLlmClient } from '../../src/llm/client.ts'
import { createAssetReader } from '../../src/runtime/assets.ts'
import { asDescribed } from './described.ts'
import { memoryCache } from './memory-cache.ts'
import { createTestDatabase, type TestDatabase } from './postgres.ts'
import { startOnce } from './start-once.ts'

/** The smallest environment for which a configuration loads. */
export const ENVIRONMENT = {
  PLATFORM_SQL_DATABASE_URL: 'postgresql://nobody@127.0.0.1:1/none',
  PLATFORM_IAC_TOKEN: 'iac-token',
  ANTHROPIC_API_KEY: 'sk-test',
  GIT_USER: 'bot',
  GIT_TOKEN: 'token-of-the-bot',
}

export const configOf = (yaml = '', env: Record<string, string> = {}): Promise<Config> =>
  loadConfig({ ...ENVIRONMENT, ...env, PLATFORM_CONFIG: '/test/config.yaml' }, async () => yaml)

export interface TestCore {
  app: Hono<AppEnv>
  context: CoreContext
  database: TestDatabase
  /** Finished log lines, parsed. */
  log: Record<string, unknown>[]
  /** Calls the core. `json` is the body, `token` the bearer token. */
  call(
    method: string,
    path: string,
    options?: { json?: unknown; token?: string; headers?: Record<string, string> },
  ): Promise<Response>
  another(changes: {
    yaml?: string
    env?: Record<string, string>
    context?: Partial<CoreContext>
  }): Promise<Hono<AppEnv>>
  close(): Promise<void>
}

/**
 * Creates a core on its own database. Database, queue, hub and verbs are real. Doubles replace the network: names
 * resolve to a public address, the cache is a map, HTTP goes to msw. Every answer is checked against the published
 * description of its route.
 */
export async function createTestCore(
  options: { yaml?: string; env?: Record<string, string>; context?: Partial<CoreContext> } = {},
): Promise<TestCore> {
  const database = await createTestDatabase()
  const { sql } = database
  const log: Record<string, unknown>[] = []
  const logger = createLogger({ level: 'debug', write: (line) => log.push(JSON.parse(line)) })
  const queue = createSendingQueue(sql)
  const events = await startEventHub(sql, logger)
  const config = await configOf(options.yaml, options.env)
  const context: CoreContext = {
    config,
    log: logger,
    fetch: (input, init) => globalThis.fetch(input, init),
    sql,
    cache: memoryCache(),
    queue,
    storage: {
      ensureBuckets: async () => {},
      put: async () => 0,
      get: async () => new Uint8Array(),
      delete: async () => {},
      presign: async (key) => `https://objects.example.com/${key}?signature=test`,
      urlsLapse: async () => null,
      isOn: () => true,
      metadataPrefix: 'x-amz-meta-',
    },
    prompts: { body: async (name) => `body of ${name}` },
    llm: createLlmClient(config.llm, { fetch: (input, init) => globalThis.fetch(input, init), log: logger }),
    iac: {} as CoreContext['iac'],
    resolver: async () => ['93.184.216.34'],
    now: () => new Date(),
    events,
    asset: createAssetReader(),
    ...options.context,
  }
  const app = asDescribed(createApp(context))
  return {
    app,
    context,
    database,
    log,
    call: callOf(app),
    another: async (changes) =>
      asDescribed(
        createApp({
          ...context,
          config: changes.yaml ? await configOf(changes.yaml, changes.env) : config,
          ...changes.context,
        }),
      ),
    close: async () => {
      await events.close()
      await database.drop()
    },
  }
}

/** Provides a core for the tests of a file or `describe`. `me` is the number of its caller. */
export const provideCore = (options: Parameters<typeof createTestCore>[0] = {}): TestCore & { me: number } =>
  startOnce(async () => {
    const core = await createTestCore(options)
    return { ...core, me: (await (await core.call('GET', '/api/v1/users/me')).json()).id }
  })

/** Returns a `call` for another application, for example one that `another` returned. */
export const callOf =
  (app: Hono<AppEnv>): TestCore['call'] =>
  async (method, path, request = {}) =>
    app.request(path, { method, ...requestOf(request) })

/** Status and JSON body of an answer. */
export async function answerOf(given: Response | Promise<Response>): Promise<[status: number, body: unknown]> {
  const answer = await given
  return [answer.status, await answer.json()]
}

/** Status and `detail` of an error. */
export async function refusalOf(given: Response | Promise<Response>): Promise<[status: number, detail: unknown]> {
  const answer = await given
  return [answer.status, (await answer.json()).detail]
}

function requestOf(request: { json?: unknown; token?: string; headers?: Record<string, string> }): RequestInit {
  const headers: Record<string, string> = { ...request.headers }
  if (request.token !== undefined) headers.authorization = `Bearer ${request.token}`
  if (request.json === undefined) return { headers }
  return { headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(request.json) }
}
