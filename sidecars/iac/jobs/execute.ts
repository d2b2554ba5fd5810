import { readFile } from 'node:fs/promises'
import type { Fetch } from '../../../src/base/http.ts'
import { isJsonObject, itemsOf, type Json } from '../../../src/base/json.ts'
import type { LogFields, Logger } from '../../../src/base/log.ts'
import { engineArguments, withoutOwnSettings } from '../engine/command.ts'
import { type RunOnce, runInit, Turns } from '../engine/plugin-cache.ts'
import { checkHostPrograms } from '../host-programs/check.ts'
import { discover } from '../inventory/discover.ts'
import { kubernetesIdentifiers } from '../inventory/kubernetes/identifier.ts'
import { type CliConfig, explainMissingVersions } from '../limits/providers.ts'
import { refuseByLimits, refuseLinkedPlan, refuseOwnFolders } from '../limits/refuse.ts'
import { isInitialised, noteInitialised } from '../limits/workspace.ts'
import { type OutputFiles, readTail, removeOutput, writeOutput } from '../output/files.ts'
import { hideCredentials } from '../output/masking.ts'
import type { JobSecrets } from '../output/secrets.ts'
import { OVERRIDE_NAME, prepareSurroundings } from '../sandbox/environment.ts'
import { type Access, commandLimits, type Executor } from '../sandbox/executor.ts'
import type { SchemaCache } from '../schema/cache.ts'
import { runSchemaJob } from '../schema/job.ts'
import type { IacSettings } from '../settings.ts'
import { ADDITIONS, CANCELLED, type Engine, JobFault, type JobKind, type JobRecord, type JobRequest } from '../types.ts'
import { runFormatJob } from './format.ts'
import { type TakenPlan, takePlan } from './plan-copy.ts'
import type { ExecuteJob, Supervision } from './service.ts'
import type { JobStore } from './store.ts'

/** The core waits at most half a minute for an addition, and no other job of the workspace runs meanwhile. */
const ADDITION_SECONDS = 120
const LOGGED_STDERR = 500
/** Kinds that write state, and hold its lock meanwhile. */
const SAVES_STATE: readonly JobKind[] = ['apply', 'import']

interface ExecutorOptions {
  settings: IacSettings
  engine: Engine
  executor: Executor
  /** The CLI configuration that restricts the engine; null where nothing is restricted. */
  cliConfig: CliConfig | null
  schemas: SchemaCache
  env: Record<string, string | undefined>
  store: JobStore
  secrets: JobSecrets
  fetch: Fetch
  log: Logger
  now: () => Date
}

/** Creates the function that runs a job. Messages of the service, such as a refusal, become the job's stderr. */
export function createExecutor(options: ExecutorOptions): ExecuteJob {
  const execute = createCommandRunner(options)
  return async (job, request, supervision) => {
    const plan = await takePlan(options.settings.dataDir, job.job_id, request)
    try {
      return await execute(job, plan, supervision)
    } finally {
      options.secrets.close(job.job_id)
      await plan.remove()
    }
  }
}

function createCommandRunner(options: ExecutorOptions) {
  const { settings, store, secrets, log } = options
  const cacheTurns = new Turns()
  return async (job: JobRecord, plan: TakenPlan, supervision: Supervision): Promise<number> => {
    const { request, path: planCopy, refusal: planRefusal } = plan
    const output = store.output(job.job_id)
    const args = engineArguments(job.kind, request, settings.backendConfig)
    if (args === null) return listScope(options, job, request, supervision)
    if (job.kind === 'fmt') return runFormatJob(options, job, { args, texts: request.texts ?? [] }, supervision)
    const refusal =
      refuseOwnFolders(job.workspace_path, [settings.dataDir, settings.pluginCacheDir]) ??
      planRefusal ??
      (await refuse(options, job, request, AbortSignal.any([supervision.signal, supervision.cancelled])))
    if (refusal !== null) {
      log.warn('job refused', { job_id: job.job_id, kind: job.kind, refusal })
      return writeOutput(output, 1, '', refusal)
    }
    const hidden = await secrets.open(job.job_id, job.workspace_path)
    const started = performance.now()
    const run = await prepareRun(options, job, { request, args, planCopy }, supervision)
    const cache = { path: settings.pluginCacheDir, isWritable: options.executor.boundary.sandbox === 'none' }
    const runKind = () => {
      const { job_id: name, workspace_path: workspace } = job
      const init = { turns: cacheTurns, stderr: output.stderr, name, workspace, mirror: settings.providerMirror }
      if (job.kind === 'init') return runInit(run, cache, init)
      return job.kind === 'schema' ? runSchemaJob(options, request, output, () => run(cache)) : run(cache)
    }
    // The output of a stopped command can be read as well.
    const exitCode = await runKind().finally(() => hideIn(output, hidden))
    if (job.kind === 'init' && exitCode !== 0) await explainMissingVersions(output.stderr, settings)
    const command = [options.engine.binary, ...args].join(' ')
    await logEnd(log, 'engine command ended', { job_id: job.job_id, command }, { exitCode, started, output })
    return job.kind === 'state_resource_ids' ? extractIds(output, exitCode) : exitCode
  }
}

/** Creates the function that runs the command of a job, once or several times. */
async function prepareRun(
  options: ExecutorOptions,
  job: JobRecord,
  { request, args, planCopy }: { request: JobRequest; args: string[]; planCopy: string | null },
  supervision: Supervision,
): Promise<RunOnce> {
  const { settings, store, engine, executor } = options
  const surroundings = await prepareSurroundings(options, job.kind, request)
  return async (cache) => {
    await removeOutput(store.output(job.job_id))
    return executor.run(
      {
        name: job.job_id,
        binary: engine.binary,
        args,
        cwd: job.workspace_path,
        env: surroundings.env(cache?.path ?? null),
        ...store.output(job.job_id),
        timeoutMs: Math.min(settings.jobTimeoutSeconds, isAddition(job) ? ADDITION_SECONDS : Infinity) * 1000,
        ...commandLimits(settings),
        savesState: SAVES_STATE.includes(job.kind),
        ...supervision,
      },
      withFile(surroundings.access(cache), planCopy),
    )
  }
}

async function hideIn(output: OutputFiles, secrets: readonly string[]): Promise<void> {
  for (const path of [output.stdout, output.stderr])
    await hideCredentials(path, secrets).catch((error: NodeJS.ErrnoException) => {
      // A command that was stopped before its start has written nothing.
      if (error.code !== 'ENOENT') throw error
    })
}

const withFile = (access: Access, path: string | null): Access =>
  path === null ? access : { ...access, private: [...access.private, path] }

const isAddition = ({ kind }: JobRecord) => ADDITIONS.some((addition) => addition === kind)

async function logEnd(
  log: Logger,
  message: string,
  facts: LogFields,
  { exitCode, started, output }: { exitCode: number; started: number; output: OutputFiles },
): Promise<void> {
  const end = { ...facts, exit_code: exitCode, duration_ms: Math.round(performance.now() - started) }
  log.info(message, exitCode === 0 ? end : { ...end, stderr: await readTail(output.stderr, LOGGED_STDERR) })
}

/** Lists the content of a scope. No engine runs: the service asks the cloud itself. */
async function listScope(
  { settings, env, store, secrets, fetch, log, now }: ExecutorOptions,
  job: JobRecord,
  { scope_id = '', engine_provider }: JobRequest,
  { signal, cancelled }: Supervision,
): Promise<number> {
  if (engine_provider === undefined) throw new Error('an inventory needs the provider of its scope')
  const started = performance.now()
  const discovery = await discover({
    provider: engine_provider,
    request: { scopeId: scope_id, env: withoutOwnSettings(env), fetch, log: log.with({ job_id: job.job_id }), now },
    stopping: AbortSignal.any([signal, cancelled]),
    timeoutMs: settings.jobTimeoutSeconds * 1000,
    maxBytes: settings.maxOutputBytes,
  }).catch((error) => {
    throw cancelled.aborted ? new JobFault(409, CANCELLED) : error
  })
  const output = store.output(job.job_id)
  await writeOutput(output, discovery.exitCode, discovery.stdout, discovery.stderr)
  for (const path of [output.stdout, output.stderr]) await hideCredentials(path, secrets.ofService)
  const { exitCode } = discovery
  const facts = { job_id: job.job_id, provider: engine_provider }
  await logEnd(log, 'scope discovery ended', facts, { exitCode, started, output })
  return exitCode
}

async function refuse(
  { settings, env }: ExecutorOptions,
  job: JobRecord,
  request: JobRequest,
  signal: AbortSignal,
): Promise<string | null> {
  const { workspace_path: workspace, kind } = job
  const refusal = (await refuseLinkedPlan(workspace, request.plan_file)) ?? (await refuseByLimits(settings, job))
  if (refusal !== null || settings.allowHostPrograms) return refusal
  const initialised = await isInitialised(settings.dataDir, workspace)
  const text = await checkHostPrograms(kind, workspace, request.plan_file, {
    env,
    signal,
    timeoutMs: settings.jobTimeoutSeconds * 1000,
    overrideFilename: OVERRIDE_NAME,
    backendConfig: settings.backendConfig,
    providerFolders: [settings.pluginCacheDir, settings.providerMirror].filter((folder) => folder !== ''),
    // The sandbox checks the ports as well.
    allowedHosts: settings.egressAllow.map(({ target }) => target),
    initialised,
  })
  if (text === null && kind === 'init' && !initialised) await noteInitialised(settings.dataDir, workspace)
  return text
}

async function extractIds(output: OutputFiles, exitCode: number): Promise<number> {
  if (exitCode !== 0) return writeOutput(output, exitCode, '', await readFile(output.stderr, 'utf8'))
  const extracted = stateResourceIds(await readFile(output.stdout, 'utf8'))
  return extracted.ok
    ? writeOutput(output, 0, JSON.stringify(extracted.ids), '')
    : writeOutput(output, 1, '', extracted.text)
}

type Extraction = { ok: true; ids: string[] } | { ok: false; text: string }

/**
 * Lists the identifiers in a state document: `arn`, else `id`, and for Kubernetes those of the inventory, because an id
 * such as `shop/web` does not distinguish a Deployment from a Service.
 */
export function stateResourceIds(document: string): Extraction {
  if (document.trim() === '') return { ok: true, ids: [] }
  const unparsable: Extraction = { ok: false, text: 'state pull returned an unparsable state document' }
  let state: Json
  try {
    state = JSON.parse(document)
  } catch {
    return unparsable
  }
  if (!isJsonObject(state)) return unparsable
  const ids = new Set<string>()
  for (const resource of itemsOf(state.resources)) {
    if (!isJsonObject(resource) || resource.mode !== 'managed') continue
    for (const instance of itemsOf(resource.instances)) {
      if (!isJsonObject(instance) || !isJsonObject(instance.attributes)) continue
      const id = identifierOf(instance.attributes)
      if (id !== null) ids.add(id)
      for (const name of kubernetesIdentifiers(String(resource.type), instance.attributes)) ids.add(name)
    }
  }
  return { ok: true, ids: [...ids] }
}

function identifierOf(attributes: Record<string, unknown>): string | null {
  for (const value of [attributes.arn, attributes.id]) if (typeof value === 'string' && value !== '') return value
  return null
}
