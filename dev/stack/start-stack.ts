import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { COMPILE_CACHE } from '../../src/runtime/node-tuning.ts'
import { readSeedPrompts } from '../../src/runtime/prompts.ts'
import { startCache } from '../cache.ts'
import { cloudVariables, startCloud } from '../cloud.ts'
import { startCollector } from '../collector/start.ts'
import { startGitHost } from '../git-host/start.ts'
import { startObjectStore } from '../object-store.ts'
import { startPostgres } from '../postgres.ts'
import { MODEL, type ScriptedModelOptions, startScriptedModel } from '../scripted-model/start.ts'
import type { Running } from '../server.ts'
import { answers, type Child, type Closer, firstDeath, startChild, watchDatabase, withinLimit } from './child.ts'
import { type Choices, type EmbeddedOnly, readChoices, section } from './choices.ts'
import {
  childVariables,
  configurationDocument,
  type Embedded,
  GIT_USER,
  loadSecrets,
  type StackSecrets,
  writeConfiguration,
} from './configuration.ts'
import { type Ownership, PROJECT_ROOT, type ReadyStack, type StackEngine, takeFolder } from './data-folder.ts'
import type { LogSource } from './log-lines.ts'
import { corePort, loadPorts, type Ports } from './ports.ts'

export interface StackOptions {
  /** Absolute path. */
  folder: string
  env: Record<string, string | undefined>
  /** True: no real service, whatever is set. See `EmbeddedOnly`. */
  embedded?: EmbeddedOnly
  /** Address of an emulator that answers engines in place of AWS, except for what the sample account answers. */
  emulator_url?: string | undefined
  /** What the scripted model does beside answering. */
  scripted_model?: Omit<ScriptedModelOptions, 'port'>
  /** One raw line of a child process, or of the launcher under the name `stack`. */
  onLine?: (name: LogSource, line: string) => void
  /** Work that must end before the core starts, for example the build of the console. It must not reject. */
  before_core?: Promise<unknown>
  /** Runs core, worker and iac service in another way than as processes of this checkout, for example from images. */
  launch?: Launch
  /** Aborts the start and stops what was started. */
  signal?: AbortSignal
}

interface Command {
  command: string
  args: string[]
  env: Record<string, string | undefined>
}

/** Returns the command in place of one of this checkout. It has to stay in the foreground and obey SIGTERM. */
type Launch = (name: keyof typeof LIMITS_MS, own: Command) => Promise<Command>

export type Stack = Awaited<ReturnType<typeof startStack>>

/**
 * Starts the embedded services, then iac sidecar, worker and core as processes, and waits until all are ready. After
 * any failure everything is stopped again. Errors: folder in use, busy port, a process that ends during the start (with
 * its last lines).
 */
export async function startStack(options: StackOptions) {
  const say = (line: string) => options.onLine?.('stack', line)
  const choices = await readChoices(options.env, options.embedded ?? false)
  const ownership = await takeFolder(options.folder, say)
  const closers: Closer[] = [async () => ownership.release()]
  const stop = once(async () => {
    for (const close of closers.splice(0).reverse())
      await close().catch((error: unknown) => say(`while stopping: ${String(error)}`))
  })
  try {
    const port = await corePort(options.env.PLATFORM_PORT, say)
    const ports = await loadPorts(options.folder, say)
    const secrets = await loadSecrets(options.folder)
    const { embedded, database, model } = await startServices(options, choices, secrets, ports, closers)
    options.signal?.throwIfAborted()
    const processes = await startProcesses(options, { choices, secrets, embedded, port, ownership, closers })
    const ready: ReadyStack = {
      url: `http://127.0.0.1:${port}`,
      git_host: embedded.git_host && { url: embedded.git_host.url, repositories: embedded.git_host.repositories },
      model: { name: embedded.modelUrl ? scriptedName(choices) : realName(choices), scripted: !!embedded.modelUrl },
      engine: await engineOf(embedded.iacUrl, secrets.iac_token),
      sample_state: embedded.objectStoreUrl !== null && embedded.git_host !== null,
      sample_account: embedded.cloudUrl !== null,
      collector_url: embedded.collector_url,
    }
    ownership.markReady(ready)
    return {
      ...ready,
      addresses: embedded,
      choices,
      /** Null when a real model is used. */
      scripted_model: model,
      gitCredentials: embedded.git_host && { user: GIT_USER, token: secrets.git_token },
      children: processes.map(({ name, pid, ended }) => ({ name, pid, ended })),
      /** Resolves with a text when a process of the stack has ended by itself and all others were stopped. */
      failed: firstDeath(database ? [...processes, database] : processes, stop),
      /** True from the moment at which it stops, by itself too: then what uses its servers fails first. */
      isStopping: (): boolean => stop.running(),
      stop: (): Promise<void> => stop(),
    }
  } catch (error) {
    await stop()
    throw error
  }
}

/** Starts the servers in parallel; each is closed again if another one fails. */
async function startServices(
  { folder, scripted_model }: Pick<StackOptions, 'folder' | 'scripted_model'>,
  choices: Choices,
  secrets: StackSecrets,
  ports: Ports,
  closers: Closer[],
) {
  const opened = async <T extends { close(): Promise<void> }>(start: () => Promise<T>): Promise<T> => {
    const server = await start()
    closers.push(() => server.close())
    return server
  }
  const onPort = async <T extends Running>(isOwn: boolean, name: string, start: (port: number) => Promise<T>) =>
    isOwn ? null : await opened(() => ports.stable(name, start))
  const database = async () => {
    const server = await startPostgres({ data_dir: join(folder, 'postgres') })
    return { ...server, close: server.stop }
  }
  const keys = { access_key: secrets.object_access_key, secret_key: secrets.object_secret_key }
  const objects = { ...keys, data_dir: join(folder, 'objects') }
  const host = { data_dir: join(folder, 'git-host'), user: GIT_USER, token: secrets.git_token }
  const shipped = await readSeedPrompts()
  const collector = { data_dir: join(folder, 'collector'), shipped, token: secrets.collector_token }
  const starting = [
    choices.database ? null : opened(database),
    onPort(choices.cache, 'cache', (port) => startCache({ port, token: secrets.cache_token })),
    onPort(choices.storage !== null, 'object store', (port) => startObjectStore({ port, ...objects })),
    onPort(choices.git, 'git host', (port) => startGitHost({ port, ...host })),
    onPort(choices.llm !== null, 'model', (port) => startScriptedModel({ port, ...scripted_model })),
    onPort(choices.cloud, 'sample account', (port) => startCloud({ port })),
    onPort(choices.collector, 'collector', (port) => startCollector({ port, ...collector })),
    ports.reserve('iac sidecar'),
  ] as const
  // A failure is told only when all have ended, so that each one that has started is closed.
  await Promise.allSettled(starting)
  const [postgres, cache, store, git_host, model, cloud, spans, iac_port] = await Promise.all(starting)
  const embedded: Embedded = {
    databaseUrl: postgres?.url ?? null,
    cacheUrl: cache?.platform_url ?? null,
    objectStoreUrl: store?.url ?? null,
    git_host,
    modelUrl: model?.url ?? null,
    cloudUrl: cloud?.url ?? null,
    collector_url: spans?.collector_url ?? null,
    iacUrl: `http://127.0.0.1:${iac_port}`,
  }
  return { embedded, database: postgres && watchDatabase(postgres, closers), model }
}

interface Parts {
  choices: Choices
  secrets: StackSecrets
  embedded: Embedded
  port: number
  ownership: Ownership
  closers: Closer[]
}

/**
 * The flags of the npm scripts of core and worker: a small young heap. Thousands of streams live long, and so do plans of
 * thousands of resources, whose steps took twice the memory with a large one.
 */
const HEAP_FLAGS = ['--min-semi-space-size=4', '--max-semi-space-size=4']
/** Milliseconds that a process gets for its orderly end. */
const LIMITS_MS = { iac: 15_000, worker: 12_000, core: 12_000 }

async function startProcesses(options: StackOptions, parts: Parts): Promise<Child[]> {
  const { folder, env } = options
  const { choices, secrets, embedded } = parts
  const url = `http://127.0.0.1:${parts.port}`
  const configPath = await writeConfiguration(configurationDocument(choices, embedded, folder, url), folder)
  const variables = await childVariables(env, { embedded, secrets, configPath, folder })
  const home = join(folder, 'home')
  for (const path of [home, join(folder, 'workspaces')]) await mkdir(path, { recursive: true })
  const started: Child[] = []
  const launch: Launch = options.launch ?? (async (_, own) => own)
  const start = async (name: keyof typeof LIMITS_MS, args: string[], extra: Record<string, string | undefined>) => {
    const own = { NODE_COMPILE_CACHE: COMPILE_CACHE, ...env, ...variables, ...extra }
    const child = startChild({
      name,
      ...(await launch(name, { command: process.execPath, args, env: own })),
      logFolder: join(folder, 'logs'),
      onLine: (line) => options.onLine?.(name, line),
    })
    if (child.pid > 0) parts.ownership.addChild(name, child.pid)
    started.push(child)
    return child
  }
  parts.closers.push(async () => {
    const stop = (names: string[]) =>
      started.filter((child) => names.includes(child.name)).map((child) => child.stop(LIMITS_MS[child.name as 'iac']))
    await Promise.all(stop(['core', 'worker']))
    await Promise.all(stop(['iac']))
  })
  const main = (path: string) => join(PROJECT_ROOT, path)
  const iac = await start('iac', [main('sidecars/main.ts'), 'iac'], {
    PLATFORM_PORT: new URL(embedded.iacUrl).port,
    IAC_DATA_DIR: join(folder, 'iac'),
    IAC_WORKSPACE_ROOT: join(folder, 'workspaces'),
    IAC_STOP_GRACE_SECONDS: '5',
    IAC_EGRESS_ALLOW: reachableForEngines(embedded, options),
    ...(embedded.cloudUrl && { ...withoutAccount(env), ...cloudVariables(embedded.cloudUrl) }),
    ...(options.emulator_url && { AWS_ENDPOINT_URL: options.emulator_url }),
  })
  // The worker writes its own git settings, which must not be written to the operator's home.
  const worker = await start('worker', [...HEAP_FLAGS, main('pipeline/main.ts')], { HOME: home })
  await options.before_core
  const core = await start('core', [...HEAP_FLAGS, main('routes/main.ts')], { PLATFORM_PORT: String(parts.port) })
  await Promise.all([
    answers(iac, `${embedded.iacUrl}/healthz`, options.signal),
    withinLimit(worker, worker.lineWith('"worker ready"'), options.signal),
    answers(core, `${url}/readyz`, options.signal),
  ])
  return started
}

/** Lists the only loopback addresses that sandboxed engines can reach: embedded store, sample account, emulator. */
const reachableForEngines = ({ objectStoreUrl, cloudUrl }: Embedded, { env, emulator_url }: StackOptions): string =>
  [objectStoreUrl ?? env.PLATFORM_STORAGE_ENDPOINT_URL, cloudUrl, emulator_url]
    .flatMap((url) => URL.parse(url ?? '') ?? [])
    .map(({ hostname, port, protocol }) => `${hostname}:${port || (protocol === 'https:' ? 443 : 80)}`)
    .concat(env.IAC_EGRESS_ALLOW?.trim() || [])
    .join(',')

/** Removes the operator's account, which must not mix with the sample one. */
const withoutAccount = (env: StackOptions['env']): Record<string, undefined> =>
  Object.fromEntries(Object.keys(env).flatMap((name) => (name.startsWith('AWS_') ? [[name, undefined]] : [])))

function once(work: Closer): Closer & { running(): boolean } {
  let running: Promise<void> | null = null
  const run = () => {
    running ??= work()
    return running
  }
  return Object.assign(run, { running: () => running !== null })
}

async function engineOf(iacUrl: string, token: string): Promise<StackEngine> {
  const response = await fetch(`${iacUrl}/v1/engine`, {
    headers: { authorization: `Bearer ${token}` },
    signal: AbortSignal.timeout(5_000),
  })
  const { name = 'unknown', version = 'unknown', sandbox = 'none', network = 'host' } = await response.json()
  return { name, version, sandbox, network }
}

/** Returns the scripted model's name, without its provider in the usual form. */
const scriptedName = ({ scripted }: Choices): string => {
  const names = [...new Set(Object.values(scripted))]
  return names.length === 1 && names[0] === `openai/${MODEL}` ? MODEL : names.join(', ')
}

const realName = ({ llm, base }: Choices): string => String(llm?.model ?? section(base, 'llm').model ?? 'as configured')
