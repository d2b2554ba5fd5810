import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { promisify } from 'node:util'
import { loadConfig } from '../../../config/load.ts'
import type { Config, OrchestrationConfig, StateCredentials } from '../../../config/types.ts'
import { type GitHost, startGitHost } from '../../../dev/git-host/start.ts'
import { startObjectStore } from '../../../dev/object-store.ts'
import { modes } from '../../../pipeline/modes/index.ts'
import { type RoundFrame, runRound } from '../../../pipeline/run-round.ts'
import { writeOverride } from '../../../pipeline/workspace/backend-override.ts'
import { beginWorkspace } from '../../../pipeline/workspace/open.ts'
import { iacService } from '../../../sidecars/iac/main.ts'
import { readSettings } from '../../../sidecars/iac/settings.ts'
import { startService } from '../../../sidecars/shared/run-service.ts'
import { createLogger, silentLogger } from '../../../src/base/log.ts'
import type { Cloud, Operation, StateChoice, Status, Turn } from '../../../src/base/vocabulary.ts'
import type { Context } from '../../../src/context.ts'
import { createObjectStore } from '../../../src/data/storage/create.ts'
import type { ObjectStore } from '../../../src/data/storage/object-store.ts'
import { createStateKeys } from '../../../src/data/storage/state-keys.ts'
import type { LlmClient } from '../../../src/llm/inference.ts'
import { createBuiltinPrompts } from '../../../src/prompts/source.ts'
import { acceptRound } from '../../../src/rounds/accept.ts'
import { type CancelWatch, startCancelWatch } from '../../../src/rounds/cancel.ts'
import type { RoundRequest } from '../../../src/rounds/round.ts'
import { resolveHost } from '../../../src/runtime/fetch.ts'
import { readSeedPrompts } from '../../../src/runtime/prompts.ts'
import { createIacClient } from '../../../src/services/iac/client.ts'
import type { IacClient, IacJobKind } from '../../../src/services/iac/contract.ts'
import { findSession } from '../../../src/sessions/find.ts'
import { engineOnPath } from '../../helpers/engine.ts'
import { memoryCache } from '../../helpers/memory-cache.ts'
import { createTestDatabase, type TestDatabase } from '../../helpers/postgres.ts'
import { createUser, openSession } from '../../helpers/sessions.ts'
import { scriptedLlm } from '../../pipeline/steps/scripted-llm.ts'
import { goodRound, MAIN, type Scripts } from './scripts.ts'

const run = promisify(execFile)

const ENVIRONMENT = {
  PLATFORM_SQL_DATABASE_URL: 'postgresql://nobody@127.0.0.1:1/none',
  PLATFORM_IAC_TOKEN: 'token-of-the-iac-sidecar',
  ANTHROPIC_API_KEY: 'key-of-the-model-provider',
  GIT_USER: 'bot',
  GIT_TOKEN: 'token-of-the-git-host',
  BUNDLED_ACCESS_KEY: 'access-key-of-the-store',
  BUNDLED_SECRET_KEY: 'secret-key-of-the-store',
}

/** A context with the additions of a worker. A completed round must not log errors, unless `mayLogErrors` is true. */
export type RoundContext = Context & Pick<RoundFrame, 'recorder'> & { mayLogErrors?: boolean }

/** All real counterparts of a worker: PostgreSQL, engine and its sidecar, git host, object store. */
export interface Stack {
  config: Config
  database: TestDatabase
  /** Receives cancellations of rounds, as a worker does. */
  cancellations: CancelWatch
  git_host: GitHost
  /** The managed states. */
  states: ObjectStore
  /** Makes a context with `llm` as model and these parts replaced. */
  context(
    llm: LlmClient,
    changes?: Partial<RoundContext> & { orchestration?: Partial<OrchestrationConfig> },
  ): RoundContext
  /** Creates a repository with these files in its first commit. Returns its clone address. */
  repository(files: Record<string, string | { symlink: string }>): Promise<string>
  /** Runs git in the bare repository behind a clone address. Returns its output. */
  git(repo_uri: string, ...args: string[]): Promise<string>
  close(): Promise<void>
}

/**
 * @param options.state_credentials as in the configuration; `static` is the default
 * @param options.job_timeout seconds of an engine job
 * @param options.storeClock clock of the object store, which lets temporary keys run out
 * @param options.sidecar more variables of the iac sidecar; what `IAC_EGRESS_ALLOW` names may be reached as well
 */
export async function startStack(
  options: {
    state_credentials?: StateCredentials
    job_timeout?: number
    storeClock?: () => Date
    sidecar?: Record<string, string>
  } = {},
): Promise<Stack> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'generate-test-')))
  const database = await createTestDatabase()
  const git_host = await startGitHost({
    data_dir: join(folder, 'git'),
    user: 'bot',
    token: ENVIRONMENT.GIT_TOKEN,
    samples: false,
  })
  const store = await startObjectStore({
    access_key: ENVIRONMENT.BUNDLED_ACCESS_KEY,
    secret_key: ENVIRONMENT.BUNDLED_SECRET_KEY,
    now: options.storeClock,
  })
  const env = {
    PATH: process.env.PATH,
    HOME: folder,
    PLATFORM_PORT: '0',
    PLATFORM_HOST: '127.0.0.1',
    PLATFORM_IAC_TOKEN: ENVIRONMENT.PLATFORM_IAC_TOKEN,
    IAC_DATA_DIR: join(folder, 'iac'),
    IAC_STOP_GRACE_SECONDS: '1',
    IAC_SANDBOX: process.env.IAC_SANDBOX,
    // Modules may lie on the git host.
    GIT_SSL_CAINFO: git_host.ca_file,
    ...options.sidecar,
    // The state is in the store, which is on this machine's loopback address.
    IAC_EGRESS_ALLOW: [new URL(store.url).host, options.sidecar?.IAC_EGRESS_ALLOW].filter(Boolean).join(','),
  }
  const iac = await startService(iacService({ env, fetch }), readSettings(env), silentLogger)
  const config = await loadConfig({ ...ENVIRONMENT, PLATFORM_CONFIG: 'config.yaml' }, async () =>
    JSON.stringify({
      services: { iac: { endpoint: iac.url, job_poll_interval: 1, job_timeout: options.job_timeout ?? 3600 } },
      paths: { upload_folder: join(folder, 'workspaces'), git_folder: join(folder, 'git-directories') },
      storage: {
        endpoint_url: store.url,
        public_endpoint_url: store.url,
        state_credentials: options.state_credentials ?? 'static',
      },
      git: {
        base_url: git_host.url,
        api_url: git_host.api_url,
        ca_file: git_host.ca_file,
        allow_private_hosts: [git_host.host],
      },
      orchestration: { max_validation_iteration: 2 },
    }),
  )
  const storage = createObjectStore(config.storage, { fetch, log: silentLogger })
  await storage.ensureBuckets()
  const states = createObjectStore(
    { ...config.storage, bucket: config.storage.engine_state_bucket },
    { fetch, log: silentLogger },
  )
  const stateKeys = createStateKeys(config, { fetch, log: silentLogger })
  const cancellations = await startCancelWatch(database.sql, silentLogger)
  const prompts = createBuiltinPrompts(await readSeedPrompts())
  return {
    config,
    database,
    cancellations,
    git_host,
    states,
    context: (llm, { orchestration, ...changes } = {}) => ({
      config: { ...config, orchestration: { ...config.orchestration, ...orchestration } },
      log: silentLogger,
      fetch,
      sql: database.sql,
      cache: memoryCache(),
      queue: { enqueue: async () => {}, healthy: async () => true },
      storage,
      stateStore: states,
      ...(stateKeys && { stateKeys }),
      prompts,
      llm,
      iac: createIacClient(config.services.iac, { fetch, log: silentLogger }),
      resolver: resolveHost,
      now: () => new Date(),
      ...changes,
    }),
    repository: (files) =>
      git_host.addRepository({ owner: 'acme', name: `infra-${crypto.randomUUID()}`, content: { files } }),
    git: async (repo_uri, ...args) => (await run('git', ['--git-dir', git_host.pathOf(repo_uri), ...args])).stdout,
    close: async () => {
      await cancellations.close()
      await Promise.all([iac.stop(), git_host.close(), store.close(), database.drop()])
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** Returns the folder of a session's reviewed workspace. */
export const planPath = ({ config }: Stack, uuid: string) => join(config.paths.upload_folder, uuid, 'saved-plan')

/** The visible data of a session after a round. */
export interface SessionView {
  uuid: string
  branch: string
  is_blocked: boolean
  in_flight: boolean
  statuses: Status[]
  messages: (string | null)[]
  history: Turn[]
  failures: string[]
}

export interface SessionRequest {
  /** Default: a repository with `files`. */
  repo_uri?: string
  /** Default: `MAIN` as `main.tf`. */
  files?: Record<string, string>
  query?: string
  iac_path?: string | null
  mode?: Operation
  is_partial?: boolean
  preview?: boolean
  provider?: Cloud
  state?: StateChoice
}

/** Accepts a first request and runs its round. */
export async function firstRound(
  stack: Stack,
  context: RoundContext,
  request: SessionRequest = {},
  signal?: AbortSignal,
): Promise<SessionView & { repo_uri: string }> {
  const user = await createUser(context.sql, crypto.randomUUID())
  const { files = { 'main.tf': MAIN }, repo_uri = await stack.repository(files) } = request
  const { query = 'Add a second greeting', iac_path = null, mode = 'generate', is_partial = false } = request
  const { preview, provider = 'aws', state } = request
  const uuid = await openSession(context, user.id, {
    repo_uri,
    query,
    iac_path,
    mode,
    is_partial,
    preview,
    provider,
    state,
  })
  return { ...(await runWaiting(stack, context, uuid, signal)), repo_uri }
}

export interface RoundOptions extends Partial<RoundContext> {
  orchestration?: Partial<OrchestrationConfig>
  request?: SessionRequest
  signal?: AbortSignal
}

/** Runs the first round of a new session with a model that gives these answers. */
export async function runFirst(stack: Stack, scripts: Scripts, { request, signal, ...changes }: RoundOptions = {}) {
  const llm = scriptedLlm(scripts)
  const context = stack.context(llm, changes)
  return { llm, context, session: await firstRound(stack, context, request, signal) }
}

/** Does the same with a model that behaves well in a generate round, except for these answers. */
export const runGenerate = (stack: Stack, scripts: Scripts = {}, options: RoundOptions = {}) =>
  runFirst(stack, goodRound(scripts), options)

export async function nextRound(
  stack: Stack,
  context: RoundContext,
  uuid: string,
  query: string,
  changes: Partial<Omit<RoundRequest, 'query'>> = {},
): Promise<SessionView> {
  await acceptRound(context, { session_uuid: uuid, mode: 'generate', query, is_partial: false, ...changes })
  return await runWaiting(stack, context, uuid)
}

/** Runs the round of a session that waits for a worker. */
export async function runWaiting(
  { config, cancellations }: Stack,
  context: RoundContext,
  uuid: string,
  signal = new AbortController().signal,
): Promise<SessionView> {
  const [waiting] = await context.sql<{ id: number }[]>`
    SELECT rounds.id FROM rounds JOIN sessions ON sessions.id = rounds.session_id WHERE uuid = ${uuid} AND finished_at IS NULL`
  if (!waiting) throw new Error('no round is waiting')
  const failures: string[] = []
  const logger = createLogger({ level: 'error', write: (line) => failures.push(line) })
  await runRound({ ...context, log: logger }, waiting.id, modes, signal, {
    openWorkspace: (round, options) => beginWorkspace(config, round, options),
    notifyFailure: async () => {},
    cancellations,
    recorder: context.recorder,
  })
  const session = await viewOf(context, uuid, waiting.id, failures)
  if (session.statuses.at(-1) === 'completed' && failures.length > 0 && !context.mayLogErrors)
    throw new Error(`the round has logged errors: ${failures.join()}`)
  return session
}

/**
 * Wraps the real engine's client and records kind and targets of the jobs in the clones of rounds, without those that
 * plan copies of the code beside them.
 */
export function watched(stack: Stack) {
  const { iac } = stack.context(scriptedLlm({}))
  const jobs: [IacJobKind, string[] | undefined][] = []
  const clones = new Map<string, string>()
  const isInClone = (path: string): boolean => {
    const session = relative(stack.config.paths.upload_folder, path).split('/')[0] ?? ''
    const known = clones.get(session)
    // The clone of an earlier round is gone.
    if (known === undefined || !existsSync(known)) clones.set(session, path)
    return clones.get(session) === path
  }
  const run: IacClient['run'] = (kind, body, options) => {
    if (isInClone(body.workspace_path)) jobs.push([kind, 'targets' in body ? body.targets : undefined])
    return iac.run(kind, body, options)
  }
  /** Lists the targets of each plan. */
  const plans = () => jobs.flatMap(([kind, targets]) => (kind === 'plan' ? [targets ?? []] : []))
  return { iac: { ...iac, run }, jobs, plans }
}

/** Wraps a context so that the engine's plans have these entries as well, because no provider is available offline. */
export const withChanges = (context: RoundContext, ...changes: object[]): RoundContext => ({
  ...context,
  iac: {
    ...context.iac,
    run: async (kind, body, options) => {
      const result = await context.iac.run(kind, body, options)
      if (kind !== 'show') return result
      const plan = JSON.parse(result.stdout)
      plan.resource_changes.push(...changes)
      return { ...result, stdout: JSON.stringify(plan) }
    },
  },
})

/** Makes a worker that dies in the middle of its round when `die` is called. */
export function dyingWorker(reason: unknown = new Error('killed')) {
  const worker = new AbortController()
  const die = (): never => {
    worker.abort(reason)
    throw reason
  }
  return { signal: worker.signal, die }
}

/** Ends the lease of a round, as a dead worker does. */
export const lapse = (stack: Stack, uuid: string) => stack.database.sql`
  UPDATE rounds SET lease_until = clock_timestamp() - interval '1 second'
  WHERE finished_at IS NULL AND session_id = (SELECT id FROM sessions WHERE uuid = ${uuid})`

async function viewOf({ sql }: Context, uuid: string, round_id: number, failures: string[]): Promise<SessionView> {
  const session = await findSession(sql, uuid)
  if (!session) throw new Error('the session is gone')
  const rows = await sql<{ status: Status; message: string | null }[]>`
    SELECT status, message FROM statuses WHERE round_id = ${round_id} ORDER BY created_at, id`
  const [history] = await sql<{ payload: Turn[] }[]>`SELECT payload FROM histories WHERE session_id = ${session.id}`
  return {
    uuid,
    branch: session.workspace.branch,
    is_blocked: session.is_blocked,
    in_flight: session.in_flight,
    statuses: rows.map(({ status }) => status),
    messages: rows.map(({ message }) => message),
    history: history?.payload ?? [],
    failures,
  }
}

/** Runs an engine on the managed state of a session, outside of the platform. */
export async function engineBeside(
  stack: Stack,
  repo_uri: string,
  env: Record<string, string> = {},
  root = '',
): Promise<{ apply(): Promise<void>; editState(edit: (state: string) => string): Promise<void> }> {
  const directory = await mkdtemp(join(stack.config.paths.upload_folder, '..', 'beside-'))
  await run('git', ['clone', '--quiet', stack.git_host.pathOf(repo_uri), join(directory, 'clone')])
  const cwd = join(directory, 'clone', root)
  const session = { scope_id: 'acme-test', workspace: { uri: repo_uri, branch: '', root_path: root || null } }
  await writeOverride(stack.config, session, cwd, silentLogger)
  const binary = await engineOnPath()
  const engine = (...args: string[]) =>
    run(binary, args, { cwd, env: { PATH: process.env.PATH, HOME: directory, ...env } })
  await engine('init', '-no-color', '-input=false')
  return {
    apply: async () => {
      await engine('apply', '-no-color', '-input=false', '-auto-approve')
    },
    editState: async (edit) => {
      const { stdout } = await engine('state', 'pull')
      const state = JSON.parse(edit(stdout))
      await mkdir(join(directory, 'edited'), { recursive: true })
      await writeFile(join(directory, 'edited', 'state.json'), JSON.stringify({ ...state, serial: state.serial + 1 }))
      await engine('state', 'push', join(directory, 'edited', 'state.json'))
    },
  }
}

/** Creates a repository whose code was applied. `edit` then changes the state behind the engine's back. */
export async function appliedRepository(
  stack: Stack,
  files: Record<string, string> = { 'main.tf': MAIN },
  edit?: (state: string) => string,
  root?: string,
): Promise<string> {
  const repo_uri = await stack.repository(files)
  const engine = await engineBeside(stack, repo_uri, {}, root)
  await engine.apply()
  if (edit) await engine.editState(edit)
  return repo_uri
}
