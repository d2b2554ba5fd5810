import { gatewayTimeout, PlatformError, RoundCancelled } from '../../src/base/errors.ts'
import { delay } from '../../src/base/http.ts'
import { cutEnd } from '../../src/base/text.ts'
import { inSpan } from '../../src/observe/in-span.ts'
import type { RunTrace } from '../../src/observe/run-trace.ts'
import { readValidation, type Validation } from '../../src/plan/diagnostics/validation.ts'
import { createProviderSchema } from '../../src/plan/schema/provider-schema.ts'
import type { SecretRegister } from '../../src/plan/sensitive.ts'
import { canonicalRepository } from '../../src/plan/state/managed-state.ts'
import { basePath } from '../../src/repository/address.ts'
import { isConfiguredHost, remoteUrl } from '../../src/repository/remote.ts'
import { gitUser } from '../../src/repository/sign-in.ts'
import { recordJob } from '../../src/rounds/run-records.ts'
import {
  diagnosticsIn,
  type EngineDiagnostic,
  type EngineInfo,
  type EngineResult,
  type EngineRoot,
  type IacJobKind,
  type IacJobs,
} from '../../src/services/iac/contract.ts'
import { describeState, writeOverride, writeStateKeys } from '../workspace/backend-override.ts'
import type { Ahead } from './ahead.ts'
import { type OutputArchive, watchJob } from './engine-output.ts'
import { refuseEarlierPrograms } from './host-programs.ts'
import type { BareRun, Run } from './run.ts'

/**
 * Runs engine jobs for one run, in its engine root and for the session's cloud and scope. `secrets` gets the temporary
 * keys of jobs, `outputs` their output.
 */
export function createEngine(run: Run, { secrets, outputs }: { secrets: SecretRegister; outputs: OutputArchive }) {
  const renewKeys = createKeyRenewal(run, secrets)
  const numbers = new Map<IacJobKind, number>()
  const earlierJobs = waitForEarlierJobs(run)
  const nextKey = (kind: IacJobKind) => {
    const number = (numbers.get(kind) ?? 0) + 1
    numbers.set(kind, number)
    return `${kind}-${number}`
  }
  const measureTime = async <T>(job: () => Promise<T>): Promise<T> => {
    const started = performance.now()
    try {
      return await job()
    } finally {
      run.meter.recordEngineTime(performance.now() - started)
    }
  }
  /** What the last validation found as data; null where the service gives none with it. */
  let validated: EngineDiagnostic[] | null = null
  let initialised = false
  let hasInstalled = false
  let info: Promise<EngineInfo | null> | null = null
  const schema = createProviderSchema(
    async (request) => {
      await renewKeys('schema')
      const root = { ...place, ...(await nameRepository(run)) }
      return await measureTime(async () => run.context.iac.schema(await placed({ ...root, ...request }), run.signal))
    },
    () => initialised,
  )
  const { scope_id, provider: engine_provider } = run.round.session
  const place: EngineRoot = { workspace_path: run.workspace.iacRoot }
  let state: ReturnType<typeof describeState> | null = null
  /** Adds the state of the session. A copy of the code beside the engine root has another one. */
  const placed = async <Body extends EngineRoot>(body: Body): Promise<Body> => {
    if (body.workspace_path !== run.workspace.iacRoot) return body
    state ??= describeState(run.context.config, run.round.session)
    return { ...body, ...(await state) }
  }
  const askProgramsOf = (root: EngineRoot) =>
    measureTime(
      async () =>
        (await run.context.iac.programs?.(await placed({ ...root, ...(await nameRepository(run)) }), run.signal)) ??
        null,
    )
  /** Errors: `HostProgramsRefused`. */
  const refuseEarlier = () =>
    refuseEarlierPrograms(run, secrets, {
      list: (root = place) => askProgramsOf(root),
      initialise: (root) => measureTime(() => runJob(run, 'init', { scope_id, engine_provider, ...root })),
    })
  return {
    /** The engine root, as jobs name it. */
    place,
    /** The engine root with the session's cloud and scope. */
    scoped: { ...place, scope_id, engine_provider },
    /** True after a successful init, which is repeated only when the engine asks for it. */
    get initialised() {
      return initialised
    },
    set initialised(value) {
      initialised = value
      hasInstalled ||= value
      schema.forget()
    },
    /** True after the first successful init of the run: the lock file then names what is installed. */
    get hasInstalled() {
      return hasInstalled
    },
    /** Resource types and their schemas, from the initialised providers. */
    schema,
    /** Returns name and version for display, requested once per run; null when the service does not report them. */
    info: () => {
      info ??= run.context.iac.engine(run.signal).catch(() => null)
      return info
    },
    /**
     * Reads the engine's diagnostics of the code as data: those of the last validation, else by another job; null when
     * the service offers neither.
     */
    diagnostics: async () =>
      validated ??
      (await measureTime(async () =>
        run.context.iac.diagnostics(
          await placed({ workspace_path: run.workspace.iacRoot, ...(await nameRepository(run)) }),
          run.signal,
        ),
      )),
    /**
     * Plans once more, beside the lock of the state, for the engine's diagnostics as data; none when the service does
     * not offer it, or needs more than two minutes. Errors: those of `run`.
     */
    diagnosePlan: async (body: IacJobs['plan']) => {
      await renewKeys('plan')
      return await measureTime(async () => {
        if (!(await run.context.iac.offers?.('plan_json', run.signal))) return []
        const limit = startLimit(run, 120)
        const job = { ...(await placed(body)), lock: false, json: true } as const
        const planned = runJob(run, 'plan', job, async (jobId) => limit.began(jobId))
        return diagnosticsIn((await planned.finally(limit.ended)).stdout)
      })
    },
    /**
     * Ends the round before any model is asked if no job would run for what the repository has. Errors:
     * `HostProgramsRefused`; those of `writeOverride` and `writeStateKeys`.
     */
    checkPrograms: async () => {
      if (!run.context.iac.programs) return
      // The file replaces backends, some of which are refused otherwise.
      await writeOverride(run.context.config, run.round.session, run.workspace.iacRoot, run.log)
      // The file names the keys of the state, which the service accepts only where they lie as we write them.
      await renewKeys('init')
      await refuseEarlier()
    },
    /**
     * Records and runs a job. Errors: those of `IacClient.run`; `RoundCancelled`; `LeaseLost`; `HostProgramsRefused`
     * for what fetched modules have; 504 for a job that was stopped after `limitS` seconds; that of work ahead of its
     * need that was given up.
     */
    run: async <Kind extends IacJobKind>(
      kind: Kind,
      body: IacJobs[Kind],
      { limitS, ahead }: { limitS?: number; ahead?: Ahead } = {},
    ) => {
      await earlierJobs
      await renewKeys(kind)
      const key = nextKey(kind)
      // Only `show` reports which values are sensitive, so the text of the plan is stored after it.
      if (kind !== 'show') outputs.flush()
      const json =
        kind === 'validate' && (await run.context.iac.offers?.('validate_json', run.signal).catch(() => false))
      const asked = { ...(await placed(body)), ...(json && { json }) }
      const { result, diagnostics } = await measureTime(async () =>
        runWatched(ahead?.within(run) ?? run, secrets, { kind, body: asked, key, limitS }),
      )
      if (kind === 'validate') validated = diagnostics
      const keep = () => outputs.keep(kind, result)
      if (ahead) ahead.whenNeeded(keep)
      else keep()
      const isRefused = isWithoutEngine(result) && diagnostics === null
      if (isRefused && body.workspace_path === run.workspace.iacRoot) await refuseEarlier()
      return result
    },
  }
}

/** Without the ellipsis. */
const MAX_REASON = 300

/** Describes a fault in one masked line, without the engine's frame and cut at the end of a word. */
export function describeFault(error: unknown, secrets: Pick<SecretRegister, 'text'>): string {
  if (!(error instanceof PlatformError)) return 'an unexpected error occurred.'
  const line = secrets
    .text(error.message)
    .replaceAll(/[\s│╷╵]+/g, ' ')
    .trim()
  return cutEnd(line, MAX_REASON + 1)
}

/** True for a job that was refused, among others: one whose engine ran has usually printed something. */
const isWithoutEngine = ({ exit_code, stdout }: EngineResult) => exit_code !== 0 && stdout === ''

/**
 * Runs a job, records its id under `key`, and streams its output to the event log. A validation with `json` is shown as
 * text, and what it found is returned beside it.
 */
async function runWatched<Kind extends IacJobKind>(
  run: Run,
  secrets: SecretRegister,
  { kind, body, key, limitS }: { kind: Kind; body: IacJobs[Kind]; key: string; limitS?: number },
): Promise<Validation> {
  const isData = 'json' in body && body.json === true
  const watch = watchJob(run, secrets, kind, { follows: !isData })
  const limit = limitS === undefined ? null : startLimit(run, limitS)
  const onSubmitted = async (jobId: string) => {
    await recordJob(run.context.sql, run.round, key, jobId)
    watch.began(jobId)
    limit?.began(jobId)
  }
  let result: EngineResult | null = null
  try {
    const ended = await runJob(run, kind, body, onSubmitted)
    const read = isData ? readValidation(ended) : { result: ended, diagnostics: null }
    result = read.result
    if (result.exit_code !== 0) limit?.assertInTime()
    return read
  } catch (error) {
    if (error instanceof PlatformError) limit?.assertInTime()
    throw error
  } finally {
    limit?.ended()
    await watch.ended(result)
  }
}

/** Stops a job after its time: some engines try without an end to reach what does not answer. */
function startLimit(run: Run, limitS: number) {
  const end = new AbortController()
  let isOver = false
  const stop = async (jobId: string) => {
    await delay(limitS * 1000, end.signal)
    isOver = true
    await askToStop(run, jobId, end.signal)
  }
  return {
    began: (jobId: string) => void stop(jobId).catch(() => {}),
    ended: () => end.abort(),
    /** Errors: 504. */
    assertInTime: () => {
      if (isOver) throw gatewayTimeout(`the engine did not end within ${limitS}s and was stopped.`)
    },
  }
}

/** Does engine work in a span of the trace, which ends with the success and the text that `endOf` returns. */
export async function traceEngine<T>(
  { trace }: { trace?: RunTrace },
  [kind, input]: Parameters<RunTrace['engine']>,
  work: () => Promise<T>,
  endOf: (result: T) => [isOk: boolean, text: string],
): Promise<T> {
  const span = trace?.engine(kind, input)
  return await inSpan(span && { ...span, end: (result: T) => span.end(...endOf(result)) }, work)
}

/** Waits for jobs of an interrupted attempt, which may still hold the state lock. Their results are unused. */
async function waitForEarlierJobs(run: Run): Promise<void> {
  const { jobs, attempt } = run.round
  if (attempt <= 1) return
  await Promise.all(Object.values(jobs).map((jobId) => waitForEarlierJob(run, jobId, run.signal)))
}

const FIRST_PAUSE_MS = 250
const LONGEST_PAUSE_MS = 5_000
const LIMIT_S = 600

/**
 * Repeats a command while another round holds the state lock.
 * @throws 504 after ten minutes, or after `services.iac.job_timeout` when that is shorter; those of the command
 */
export async function runWhenStateIsFree(run: Run, command: () => Promise<EngineResult>): Promise<EngineResult> {
  const limitS = Math.min(LIMIT_S, run.context.config.services.iac.job_timeout)
  const end = performance.now() + limitS * 1000
  for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
    const result = await command()
    if (!isLockedByAnother(result)) return result
    if (performance.now() + pause > end)
      throw gatewayTimeout(`The engine state stayed locked by another run for ${limitS}s.`)
    run.log.info('the engine state is locked by another run', { pause_ms: pause })
    await delay(pause, run.signal)
  }
}

/** Messages about a held state lock. After any other message waiting does not help. */
const LOCK_HELD =
  /^[│\s]*Lock Info:|PreconditionFailed|ConditionalCheckFailed|ConditionalRequestConflict|already locked/m

const isLockedByAnother = ({ exit_code, stderr }: EngineResult) =>
  exit_code !== 0 && /^[│\s]*Error: Error acquiring the state lock/m.test(stderr) && LOCK_HELD.test(stderr)

/** Jobs whose engine command opens the state. */
const OPENS_STATE: readonly string[] = [
  'init',
  'plan',
  'apply',
  'import',
  'state_resource_ids',
  'state_summary',
  'state_rm',
  'schema',
]

/**
 * Creates a function to call before each job. It renews the temporary keys of the state store when they would expire
 * during the job, because an engine reads its keys only at its start. The function throws the errors of
 * `writeStateKeys`.
 * @param secrets gets every key, for masking
 */
function createKeyRenewal({ context, round, workspace }: Run, secrets: SecretRegister) {
  const jobMs = context.config.services.iac.job_timeout * 1000
  let expires = 0
  return async (kind: IacJobKind | 'schema'): Promise<void> => {
    if (!OPENS_STATE.includes(kind) || context.now().getTime() + jobMs <= expires) return
    const keys = await writeStateKeys(context, round.session, workspace.iacRoot)
    if (keys === null) return
    expires = keys.expires.getTime()
    secrets.add([keys.secret_key, keys.session_token])
  }
}

/** Names the repository to an iac service that offers it, because its operator may allow programs by repository. */
export async function nameRepository({ context, round, signal }: BareRun): Promise<Pick<EngineRoot, 'repository'>> {
  const offered = await context.iac.offers?.('repository', signal).catch(() => false)
  return offered ? { repository: canonicalRepository(round.session.workspace.uri) } : {}
}

/**
 * Lends the token of the session's own host for modules that lie there, to an iac service that offers to take it. A
 * server below a path shares its host with others, which would get the token too, so nothing is lent there.
 */
async function lendHostToken({
  context,
  round,
  signal,
}: BareRun): Promise<Pick<IacJobs['init'], 'module_credentials'>> {
  const { git } = context.config
  const url = remoteUrl(git, round.session.workspace.uri)
  if (!isConfiguredHost(git, url) || basePath(git) !== '' || git.user === '' || git.token === '') return {}
  const offered = await context.iac.offers?.('module_credentials', signal).catch(() => false)
  return offered ? { module_credentials: { origin: url.origin, user: gitUser(git), token: git.token } } : {}
}

/** Returns the user who cancelled the round, as far as this run knows; null when nobody has. */
export function cancelledBy({ cancellation }: Pick<BareRun, 'cancellation'>): string | null {
  const reason: unknown = cancellation?.signal.reason
  return reason instanceof RoundCancelled ? reason.by : null
}

/** Jobs that write the state. They are always awaited, because only their end shows what they did. */
const WRITES_STATE: readonly string[] = ['apply', 'import', 'state_rm']
/** Maximum wait for any other job of a cancelled round, unless `services.iac.job_timeout` is shorter. */
const STOP_LIMIT_MS = 600_000

/**
 * Runs an engine job. When the round is cancelled, asks the service to stop the job and waits for it, so that the state
 * lock is released before the round ends. Errors: those of `IacClient.run`; `RoundCancelled`, also when the job still
 * succeeded.
 */
export async function runJob<Kind extends IacJobKind>(
  run: BareRun,
  kind: Kind,
  body: IacJobs[Kind],
  onSubmitted: (jobId: string) => Promise<void> = async () => {},
): Promise<EngineResult> {
  const { cancellation, context } = run
  const named = { ...body, ...(await nameRepository(run)), ...(kind === 'init' ? await lendHostToken(run) : {}) }
  if (!cancellation) return await context.iac.run(kind, named, { signal: run.signal, onSubmitted })
  const { signal: cancelled, held, jobs } = cancellation
  cancelled.throwIfAborted()
  const limit = new AbortController()
  let jobId: string | null = null
  const stop = async () => {
    if (jobId !== null) await stopJob(run, jobId, kind, limit)
  }
  const onCancel = () => void stop()
  cancelled.addEventListener('abort', onCancel, { once: true })
  const job = context.iac.run(kind, named, {
    signal: AbortSignal.any([held, limit.signal]),
    onSubmitted: async (id) => {
      jobId = id
      await onSubmitted(id)
      if (cancelled.aborted) void stop()
    },
  })
  const settled = job.catch(() => {})
  jobs.add(settled)
  try {
    return await job
  } finally {
    cancelled.removeEventListener('abort', onCancel)
    jobs.delete(settled)
    limit.abort()
    if (!held.aborted) cancelled.throwIfAborted()
  }
}

/** Asks for the end of a job and waits for it, with a time limit unless it writes the state. Never rejects. */
async function stopJob(run: BareRun, jobId: string, kind: string, limit: AbortController): Promise<void> {
  const { job_timeout } = run.context.config.services.iac
  if (!WRITES_STATE.includes(kind))
    delay(Math.min(STOP_LIMIT_MS, job_timeout * 1000), limit.signal)
      .then(() => {
        run.log.warn('an engine job of a cancelled round has not ended; it is left alone', { job_id: jobId, kind })
        limit.abort()
      })
      .catch(() => {})
  await askToStop(run, jobId, limit.signal)
}

/** Asks the iac service to stop a job until `jobEnd` fires. Never rejects; an unstopped job ends by itself. */
export async function askToStop({ context, log }: BareRun, jobId: string, jobEnd: AbortSignal): Promise<void> {
  const isStopping = (await context.iac.cancel?.(jobId, jobEnd)) ?? false
  if (!isStopping && !jobEnd.aborted)
    log.info('the iac service does not stop a job; its own end is waited for', { job_id: jobId })
}

/** Waits for the engine jobs of a cancelled round. Never rejects; returns when worker or lease is lost. */
export async function settleJobs(run: BareRun): Promise<void> {
  const { jobs, attempt } = run.round
  const earlier = attempt > 1 && run.round.mode !== 'apply' ? Object.entries(jobs) : []
  await Promise.all([
    ...(run.cancellation?.jobs ?? []),
    ...earlier.map(([key, jobId]) => stopEarlierJob(run, jobId, key.replace(/-\d+$/, ''))),
  ])
}

async function stopEarlierJob(run: BareRun, jobId: string, kind: string): Promise<void> {
  const held = run.cancellation?.held ?? run.signal
  const limit = new AbortController()
  const asked = stopJob(run, jobId, kind, limit)
  await waitForEarlierJob(run, jobId, AbortSignal.any([held, limit.signal]))
  limit.abort()
  await asked
}

/** Waits for the end of a job of an interrupted attempt. Never rejects; its result is unused. */
async function waitForEarlierJob({ context, log }: BareRun, jobId: string, signal: AbortSignal): Promise<void> {
  await context.iac.wait(jobId, { signal }).catch((error: unknown) => {
    log.info('an engine job of an interrupted attempt left no result', { job_id: jobId, error })
  })
}
