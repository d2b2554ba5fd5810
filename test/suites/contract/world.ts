import { mkdtemp, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach } from 'vitest'
import { startCache } from '../../../dev/cache.ts'
import { startGitHost } from '../../../dev/git-host/start.ts'
import { startObjectStore } from '../../../dev/object-store.ts'
import { eventually } from '../../helpers/eventually.ts'
import { type LogLine, startLogging } from '../../helpers/logging-process.ts'
import { createTestDatabase } from '../../helpers/postgres.ts'
import { startOnce } from '../../helpers/start-once.ts'
import { type FakeModel, startFakeModel } from './fake-model.ts'
import { type FakeNotifications, type Notification, startFakeNotifications } from './fake-notifications.ts'
import { type FakeSidecar, startFakeSidecar } from './fake-sidecar.ts'

const GIT_TOKEN = 'token-of-the-git-host'
const IAC_TOKEN = 'token-of-the-iac-sidecar'

export interface Artifact {
  id: number
  url: string
  content_type: string
  file_size_bytes: number
}
export interface Round {
  id: number
  number: number
  query: string
  statuses: { status: string; message: string | null; created_at: string }[]
  reports: (Artifact & { type: string })[]
  compliance_checks: (Artifact & { passed: boolean })[]
  plans: (Artifact & { targets: string[] })[]
  code_changes: (Artifact & { file_name: string })[]
  pull_requests: unknown[]
}
export interface Session {
  uuid: string
  operation: string
  current_status: string
  in_flight: boolean
  is_blocked: boolean
  workspace: { uri: string; branch: string; root_path: string | null }
  scope_id: string
  history: { user: string; assistant: string }[] | null
  rounds: Round[]
}

export interface World {
  /** Address of the core. */
  url: string
  sidecar: FakeSidecar
  model: FakeModel
  notifications: FakeNotifications
  upload_folder: string
  repository(files?: Record<string, string>): Promise<string>
  /** Returns the absolute path of the bare repository behind an address. */
  pathOf(repository: string): string
  call(method: string, path: string, body?: unknown): Promise<Response>
  /** Sends a request and waits for the end of its round. */
  run(mode: 'generate' | 'drift' | 'import' | 'apply', body: Record<string, unknown>): Promise<Session>
  /** Makes a first request with the usual fields. */
  first(mode: 'generate' | 'drift' | 'import', body?: Record<string, unknown>): Promise<Session>
  session(id: string): Promise<Session>
  /** Returns the sidecar's notifications once there are so many. That of a failed round may come after its end. */
  notified(count: number): Promise<Notification[]>
  /** What core and worker have logged so far. */
  logs(): LogLine[]
  reset(): void
  close(): Promise<void>
}

export interface Options {
  orchestration?: Record<string, unknown>
  llm?: Record<string, unknown>
  iac?: Record<string, unknown>
  storage?: Record<string, unknown>
  document?: Record<string, unknown>
  /** Makes the variables that name the model's server; default is those of `openai`. */
  model_variables?: (url: string) => Record<string, string>
  notifications?: boolean
  /** Makes further variables of core and worker. */
  variables?: (databaseUrl: string) => Promise<Record<string, string>>
}

/** Starts core and worker as processes, surrounded by fakes that know only the contract. */
export async function startWorld(options: Options = {}): Promise<World> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'contract-only-')))
  const upload_folder = join(folder, 'workspaces')
  const keys = { access_key: 'access-key-of-the-store', secret_key: 'secret-key-of-the-store' }
  const [database, git, store, cache, sidecar, model, notifications] = await Promise.all([
    createTestDatabase(),
    startGitHost({ data_dir: join(folder, 'git'), user: 'bot', token: GIT_TOKEN, samples: false }),
    startObjectStore(keys),
    startCache({ token: 'cache-token' }),
    startFakeSidecar(IAC_TOKEN),
    startFakeModel(),
    startFakeNotifications(),
  ])
  const config = join(folder, 'platform.yaml')
  const document = {
    services: {
      iac: { endpoint: sidecar.url, job_poll_interval: 0.05, timeout: 5, ...options.iac },
      notifications: {
        enabled: options.notifications ?? true,
        endpoint: notifications.url,
        token_env: 'PLATFORM_NOTIFICATIONS_TOKEN',
        timeout: 1,
      },
    },
    orchestration: {
      enable_compliance_checker: true,
      block_on_high_impact: true,
      max_validation_iteration: 3,
      ...options.orchestration,
    },
    llm: { model: 'openai/main-model', small_model: 'openai/small-model', ...options.llm },
    paths: { upload_folder, git_folder: join(folder, 'git-directories') },
    storage: { endpoint_url: store.url, public_endpoint_url: store.url, ...options.storage },
    telemetry: { collector_url: '' },
    git: { base_url: git.url, api_url: git.api_url, ca_file: git.ca_file, allow_private_hosts: [git.host] },
    ...options.document,
  }
  await writeFile(config, JSON.stringify(document))
  const model_variables =
    options.model_variables ?? ((url) => ({ OPENAI_API_KEY: 'key-of-the-model', OPENAI_BASE_URL: `${url}/v1` }))
  const env = {
    HOME: folder,
    PLATFORM_CONFIG: config,
    PLATFORM_HOST: '127.0.0.1',
    PLATFORM_PORT: '0',
    PLATFORM_SQL_DATABASE_URL: database.url,
    PLATFORM_REDIS_URL: cache.platform_url,
    PLATFORM_IAC_TOKEN: IAC_TOKEN,
    PLATFORM_NOTIFICATIONS_TOKEN: 'token-of-the-notifications',
    BUNDLED_ACCESS_KEY: keys.access_key,
    BUNDLED_SECRET_KEY: keys.secret_key,
    GIT_USER: 'bot',
    GIT_TOKEN,
    NODE_EXTRA_CA_CERTS: git.ca_file,
    ...model_variables(model.url),
    ...(await options.variables?.(database.url)),
  }
  const core = startLogging(['routes/main.ts'], env)
  const worker = startLogging(['pipeline/main.ts'], env)
  const close = async () => {
    await Promise.all([core.stop(), worker.stop()])
    await Promise.all([
      database.drop(),
      git.close(),
      store.close(),
      cache.close(),
      sidecar.close(),
      model.close(),
      notifications.close(),
    ])
    await rm(folder, { recursive: true, force: true })
  }
  const [{ address }] = await Promise.all([core.said('core ready'), worker.said('worker ready')]).catch(
    async (error: unknown) => {
      await close()
      throw error
    },
  )

  const call: World['call'] = (method, path, body) =>
    fetch(`${address}/api/v1${path}`, {
      method,
      ...(body !== undefined && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
    })
  const session: World['session'] = async (id) =>
    (await (await call('GET', `/sessions?id=${id}&include_history=true`)).json()) as Session
  const run: World['run'] = async (mode, body) => {
    const response = await call('POST', `/iac/${mode}`, body)
    const answer = (await response.json()) as { session_id: string }
    if (response.status !== 202) throw new Error(`HTTP ${response.status} ${JSON.stringify(answer)}`)
    if (Object.keys(answer).join() !== 'session_id')
      throw new Error(`more than a session id: ${JSON.stringify(answer)}`)
    return await ended(session, answer.session_id)
  }
  const repository: World['repository'] = (files = { 'main.tf': '# nothing yet\n' }) =>
    git.addRepository({ owner: 'acme', name: `infra-${crypto.randomUUID()}`, content: { files } })
  return {
    url: String(address),
    sidecar,
    model,
    notifications,
    upload_folder,
    repository,
    pathOf: git.pathOf,
    call,
    run,
    first: async (mode, body = {}) =>
      await run(mode, {
        q: 'Add a bucket for logs',
        repo_uri: await repository(),
        scope_id: '123456789012',
        engine_providers: 'aws',
        ...body,
      }),
    session,
    notified: (count) =>
      eventually(() => {
        if (notifications.received.length < count)
          throw new Error(`${notifications.received.length} of ${count} notifications`)
        return notifications.received
      }),
    logs: () => [...core.lines, ...worker.lines],
    reset: () => {
      sidecar.reset()
      model.reset()
      Object.assign(notifications, { received: [], answer: 202 })
    },
    close,
  }
}

/** Provides a world for the tests of a file or a `describe`, with its fakes reset before each of them. */
export function provideWorld(options: Options = {}): World {
  const world = startOnce(() => startWorld(options))
  beforeEach(() => world.reset())
  return world
}

const PATIENCE_MS = 50_000

async function ended(session: World['session'], id: string): Promise<Session> {
  const limit = performance.now() + PATIENCE_MS
  for (;;) {
    const found = await session(id)
    if (!found.in_flight) return found
    if (performance.now() > limit)
      throw new Error(`the round does not end: ${JSON.stringify(found.rounds.at(-1)?.statuses)}`)
    await new Promise((resolve) => setTimeout(resolve, 40))
  }
}

/** Lists the statuses of a round without repetitions in a row. */
export const course = (round: Round | undefined): string[] =>
  (round?.statuses ?? []).map(({ status }) => status).filter((status, index, all) => status !== all[index - 1])

export const lastMessage = (session: Session): string | null | undefined =>
  session.rounds.at(-1)?.statuses.at(-1)?.message

export async function document(artifact: Artifact | undefined): Promise<Record<string, unknown>> {
  return JSON.parse(await text(artifact))
}

export async function text(artifact: Artifact | undefined): Promise<string> {
  if (!artifact) throw new Error('there is no such artifact')
  const response = await fetch(artifact.url)
  if (response.status !== 200) throw new Error(`HTTP ${response.status}`)
  return await response.text()
}

export async function metadata(artifact: Artifact | undefined): Promise<Record<string, string>> {
  if (!artifact) throw new Error('there is no such artifact')
  const { headers } = await fetch(artifact.url, { headers: { range: 'bytes=0-0' } })
  return Object.fromEntries(
    [...headers].filter(([name]) => name.startsWith('x-amz-meta-')).map(([name, value]) => [name.slice(11), value]),
  )
}

/** Lists all keys of a document and its parts. Lists count by their first entry. */
export function keysOf(value: unknown, path = ''): string[] {
  if (Array.isArray(value)) return value.length > 0 ? keysOf(value[0], `${path}[]`) : []
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, inner]) => [`${path}.${key}`, ...keysOf(inner, `${path}.${key}`)])
}

/** Makes a `resource_changes` entry with only the fields of the contract. */
export const change = (
  address: string,
  actions: string[],
  states: { before?: unknown; after?: unknown } = {},
  more: object = {},
) => ({
  address,
  mode: 'managed',
  type: address.split('.').at(-2),
  name: address.split('.').at(-1),
  change: { actions, before: null, after: null, ...states, ...more },
})
export const planOf = (...resource_changes: unknown[]) => ({
  format_version: '1.2',
  terraform_version: '1.9.0',
  resource_changes,
})
