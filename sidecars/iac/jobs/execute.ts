import { appendFile, readFile } from 'node:fs/promises'
import type { Fetch } from '../../../src/base/http.ts'
import { isJsonObject, itemsOf, parseJson } from '../../../src/base/json.ts'
import type { LogFields, Logger } from '../../../src/base/log.ts'
import { engineArguments, withoutOwnSettings } from '../engine/command.ts'
import { Downloads } from '../engine/downloads.ts'
import { type RunOnce, runInit, Turns } from '../engine/plugin-cache.ts'
import { checkHostPrograms } from '../host-programs/check.ts'
import { findingsAsDiagnostics, type Refusal } from '../host-programs/findings.ts'
import { createKnownScans, type KnownScans } from '../host-programs/known-scans.ts'
import { permittedKinds } from '../host-programs/permissions.ts'
import { kubernetesIdentifiers } from '../inventory/kubernetes/identifier.ts'
import { gitCredentialVariables, type ModuleCredentials, readModuleCredentials } from '../limits/module-credentials.ts'
import { type CliConfig, explainMissingVersions } from '../limits/providers.ts'
import { refuseByLimits, refuseLinkedPlan, refuseMoved } from '../limits/refuse.ts'
import { isInitialised, noteInitialised } from '../limits/workspace.ts'
import { type OutputFiles, readTail, removeOutput, writeOutput } from '../output/files.ts'
import { hideCredentials } from '../output/masking.ts'
import type { JobSecrets } from '../output/secrets.ts'
import { OVERRIDE_NAME, prepareSurroundings } from '../sandbox/environment.ts'
import { commandLimits, type Executor } from '../sandbox/executor.ts'
import type { SchemaCache } from '../schema/cache.ts'
import { runSchemaJob } from '../schema/job.ts'
import type { IacSettings } from '../settings.ts'
import { ADDITIONS, CANCELLED, type Engine, JobFault, type JobKind, type JobRecord, type JobRequest } from '../types.ts'
import { runFormatJob } from './format.ts'
import { type TakenPlan, takePlan } from './plan-copy.ts'
import type { ExecuteJob, Supervision } from './service.ts'
import { runRemovalJob } from './state-removal.ts'
import { runSummaryJob } from './state-summary.ts'
import type { JobStore } from './store.ts'

/** The title of a warning about a plan whose apply would be refused. */
export const APPLY_REFUSED = 'The apply of this plan would be refused'

/** Kinds that write state, and hold its lock meanwhile. */
const SAVES_STATE: readonly JobKind[] = ['apply', 'import', 'state_rm']

interface ExecutorOptions {
  settings: IacSettings
  engine: Engine
  executor: Executor
  /** The CLI configuration that restricts the engine; null where nothing is restricted. */
  cliConfig: CliConfig | null
  schemas: SchemaCache
  /** What files were found to hold, of jobs before. */
  known: KnownScans
  env: Record<string, string | undefined>
  store: JobStore
  secrets: JobSecrets
  fetch: Fetch
  log: Logger
  now: () => Date
}

/** Creates the function that runs a job. Messages of the service, such as a refusal, become the job's stderr. */
export function createExecutor(given: Omit<ExecutorOptions, 'known'>): ExecuteJob {
  const options: ExecutorOptions = { ...given, known: createKnownScans() }
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
  const downloads = new Downloads()
  return async (job: JobRecord, plan: TakenPlan, supervision: Supervision): Promise<number> => {
    const { request } = plan
    const output = store.output(job.job_id)
    const args = engineArguments(job.kind, request, settings.backendConfig)
    if (args === null) return listScope(options, job, request, supervision)
    if (job.kind === 'fmt') return runFormatJob(options, job, { args, texts: request.texts ?? [] }, supervision)
    const stopping = AbortSignal.any([supervision.signal, supervision.cancelled])
    if (request.programs_only) return listPrograms(options, job, request, stopping)
    const refusal =
      (await refuseMoved(job.workspace_path)) ?? plan.refusal ?? (await refuse(options, job, request, stopping))
    if (refusal !== null) {
      log.warn('job refused', { job_id: job.job_id, kind: job.kind, refusal })
      return writeOutput(output, 1, '', refusal)
    }
    const logins = await moduleLogins(settings, job, request)
    const tokens = logins.map(({ token }) => token)
    const hidden = await secrets.open(job.job_id, job.workspace_path, tokens)
    const started = performance.now()
    const run = await prepareRun(options, job, plan, { args, logins }, supervision)
    const listing = (...list: string[]) => {
      const command = { args: list, logins: [] }
      return async () => (await prepareRun(options, job, plan, command, supervision))(null)
    }
    const cache = { path: settings.pluginCacheDir, isWritable: options.executor.boundary.sandbox === 'none' }
    const runKind = () => {
      const { job_id: name, workspace_path: workspace } = job
      const { providerMirror: mirror } = settings
      const registry = /tofu/i.test(options.engine.name) ? 'registry.opentofu.org' : 'registry.terraform.io'
      const shared = { turns: cacheTurns, downloads, stderr: output.stderr, registry, stopping }
      if (job.kind === 'init') return runInit(run, cache, { ...shared, name, workspace, mirror })
      if (job.kind === 'schema') return runSchemaJob(options, request, output, () => run(cache))
      if (job.kind === 'state_summary') return runSummaryJob(output, () => run(cache), listing('workspace', 'list'))
      const { address = '' } = request
      if (job.kind !== 'state_rm') return run(cache)
      return runRemovalJob(output, address, listing('state', 'list', '-no-color', address), () => run(cache))
    }
    // The output of a stopped command can be read as well.
    const exitCode = await runKind().finally(() => hideIn(output, hidden))
    if (job.kind === 'plan' && exitCode === 0) await warnOfApply(options, job, request, supervision)
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
  plan: TakenPlan,
  { args, logins }: { args: string[]; logins: readonly ModuleCredentials[] },
  supervision: Supervision,
): Promise<RunOnce> {
  const { settings, store, engine, executor } = options
  const surroundings = await prepareSurroundings(options, job.kind, plan.request)
  const savesState = SAVES_STATE.includes(job.kind)
  const isBrief = !savesState && ADDITIONS.some((addition) => addition === job.kind)
  return async (cache) => {
    await removeOutput(store.output(job.job_id))
    const access = surroundings.access(cache)
    return executor.run(
      {
        name: job.job_id,
        binary: engine.binary,
        args,
        cwd: job.workspace_path,
        env: withLogins(surroundings.env(cache?.path ?? null), logins),
        ...store.output(job.job_id),
        // The core waits at most half a minute for an addition, and no other job of the workspace runs meanwhile.
        timeoutMs: Math.min(settings.jobTimeoutSeconds, isBrief ? 120 : Infinity) * 1000,
        ...commandLimits(settings),
        savesState,
        reachesNetwork: true,
        ...supervision,
      },
      plan.path === null ? access : { ...access, private: [...access.private, plan.path] },
    )
  }
}

/** Returns what git may sign in with: nothing for jobs but `init`, the only one that fetches modules. */
async function moduleLogins(
  { moduleCredentials, refuseHostToken }: IacSettings,
  { kind }: JobRecord,
  { module_credentials: ofHost }: JobRequest,
): Promise<ModuleCredentials[]> {
  if (kind !== 'init') return []
  const own = ofHost && !refuseHostToken ? [{ ...ofHost, url: `${ofHost.origin}/` }] : []
  const named = await readModuleCredentials(moduleCredentials).catch((error: Error) => {
    throw new JobFault(500, `The credentials for modules cannot be read: ${error.message}`)
  })
  // What the operator names for a host takes the place of the session's token.
  return [...own.filter(({ url }) => named.every((other) => other.url !== url)), ...named]
}

const withLogins = (env: Record<string, string | undefined>, logins: readonly ModuleCredentials[]) => ({
  ...env,
  ...gitCredentialVariables(logins, env),
})

/** Says at the end of a plan why its apply would be refused, so that nobody reviews it in vain. */
async function warnOfApply(options: ExecutorOptions, job: JobRecord, request: JobRequest, { signal }: Supervision) {
  const refusal = await refuse(options, { ...job, kind: 'apply' }, request, signal)
  const { stderr } = options.store.output(job.job_id)
  if (refusal !== null) await appendFile(stderr, refusal.replaceAll(/^Error: /gm, `Warning: ${APPLY_REFUSED}: `))
}

async function hideIn(output: OutputFiles, secrets: readonly string[]): Promise<void> {
  for (const path of [output.stdout, output.stderr])
    await hideCredentials(path, secrets).catch((error: NodeJS.ErrnoException) => {
      // A command that was stopped before its start has written nothing.
      if (error.code !== 'ENOENT') throw error
    })
}

async function logEnd(
  log: Logger,
  message: string,
  facts: LogFields,
  { exitCode, started, output }: { exitCode: number; started: number; output: OutputFiles },
): Promise<void> {
  const end = { ...facts, exit_code: exitCode, duration_ms: Math.round(performance.now() - started) }
  log.info(message, exitCode === 0 ? end : { ...end, stderr: await readTail(output.stderr, 500) })
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
  // It brings the clients of five clouds.
  const { discover } = await import('../inventory/discover.ts')
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

/** Answers what the jobs of a workspace are refused for. No engine runs. */
async function listPrograms(
  options: ExecutorOptions,
  job: JobRecord,
  request: JobRequest,
  signal: AbortSignal,
): Promise<number> {
  const { settings, store, secrets } = options
  const output = store.output(job.job_id)
  const moved = await refuseMoved(job.workspace_path)
  if (moved !== null) return writeOutput(output, 1, '', moved)
  const hidden = await secrets.open(job.job_id, job.workspace_path)
  const initialised = await isInitialised(settings.dataDir, job.workspace_path)
  const findings = (await findPrograms(options, job, request, { signal, initialised }))?.findings ?? []
  await writeOutput(output, findings.length > 0 ? 1 : 0, findingsAsDiagnostics(findings, request.repository), '')
  await hideIn(output, hidden)
  return findings.length > 0 ? 1 : 0
}

async function refuse(
  options: ExecutorOptions,
  job: JobRecord,
  request: JobRequest,
  signal: AbortSignal,
): Promise<string | null> {
  const { settings } = options
  const { workspace_path: workspace, kind } = job
  const refusal = (await refuseLinkedPlan(workspace, request.plan_file)) ?? (await refuseByLimits(settings, job))
  if (refusal !== null || settings.allowHostPrograms) return refusal
  const initialised = await isInitialised(settings.dataDir, workspace)
  const found = await findPrograms(options, job, request, { signal, initialised })
  if (found === null && kind === 'init' && !initialised) await noteInitialised(settings.dataDir, workspace)
  return found?.text ?? null
}

async function findPrograms(
  { settings, env, executor, known }: ExecutorOptions,
  { workspace_path: workspace, kind }: JobRecord,
  request: JobRequest,
  { signal, initialised }: { signal: AbortSignal; initialised: boolean },
): Promise<Refusal | null> {
  if (settings.allowHostPrograms) return null
  return checkHostPrograms(kind, workspace, request.plan_file, {
    env,
    signal,
    timeoutMs: settings.jobTimeoutSeconds * 1000,
    overrideFilename: OVERRIDE_NAME,
    overrideSha256: request.state?.override_sha256 ?? null,
    migrates: request.migrate_state === true,
    backendConfig: settings.backendConfig,
    providerFolders: [settings.pluginCacheDir, settings.providerMirror].filter((folder) => folder !== ''),
    // The sandbox checks the ports as well.
    allowedHosts: settings.egressAllow.map(({ target }) => target),
    initialised,
    sandboxed: executor.boundary.sandbox !== 'none',
    allowed: permittedKinds(settings.allowPrograms, request.repository),
    repository: request.repository,
    known,
  })
}

async function extractIds(output: OutputFiles, exitCode: number): Promise<number> {
  if (exitCode !== 0) return writeOutput(output, exitCode, '', await readFile(output.stderr, 'utf8'))
  const ids = stateResourceIds(await readFile(output.stdout, 'utf8'))
  return ids === null
    ? writeOutput(output, 1, '', 'state pull returned an unparsable state document')
    : writeOutput(output, 0, JSON.stringify(ids), '')
}

/**
 * Lists the identifiers in a state document: `arn`, else `id`, and for Kubernetes those of the inventory, because an id
 * such as `shop/web` does not distinguish a Deployment from a Service. Null for any other document.
 */
export function stateResourceIds(document: string): string[] | null {
  if (document.trim() === '') return []
  const state = parseJson(document)
  if (!isJsonObject(state)) return null
  const ids = new Set<string>()
  for (const resource of itemsOf(state.resources)) {
    if (!isJsonObject(resource) || resource.mode !== 'managed') continue
    for (const instance of itemsOf(resource.instances)) {
      if (!isJsonObject(instance) || !isJsonObject(instance.attributes)) continue
      const { arn, id } = instance.attributes
      const own = [arn, id].find((value) => typeof value === 'string' && value !== '')
      if (typeof own === 'string') ids.add(own)
      for (const name of kubernetesIdentifiers(String(resource.type), instance.attributes)) ids.add(name)
    }
  }
  return [...ids]
}
