import { PlatformError } from '../../src/base/errors.ts'
import { readValidation, type Validation } from '../../src/plan/diagnostics/validation.ts'
import { createProviderSchema } from '../../src/plan/schema/provider-schema.ts'
import type { SecretRegister } from '../../src/plan/sensitive.ts'
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
import { describeState, writeOverride } from '../workspace/backend-override.ts'
import type { Ahead } from './ahead.ts'
import { type OutputArchive, watchJob } from './engine-output.ts'
import { refuseEarlierPrograms } from './host-programs.ts'
import type { Run } from './run.ts'
import { nameRepository, runJob } from './run-job.ts'
import { createKeyRenewal } from './state-keys.ts'
import { waitForEarlierJobs } from './stop-jobs.ts'
import { startLimit } from './time-limit.ts'

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
      const root = { ...place, ...nameRepository(run) }
      return await measureTime(async () => run.context.iac.schema(await placed({ ...root, ...request }), run.signal))
    },
    () => initialised,
  )
  const { scope_id, provider: engine_provider } = run.round.session
  const place: EngineRoot = { workspace_path: run.workspace.iacRoot }
  let state: ReturnType<typeof describeState> | null = null
  /** Adds the state of the session; a copy of the code beside the engine root has another one. */
  const withState = async <Body extends EngineRoot>(body: Body): Promise<Body> => {
    if (body.workspace_path !== run.workspace.iacRoot) return body
    state ??= describeState(run.context.config, run.round.session)
    return { ...body, ...(await state) }
  }
  /** Adds the state, and waits for the files that only an engine may need. */
  const placed = async <Body extends EngineRoot>(body: Body): Promise<Body> => {
    await run.workspace.complete()
    return await withState(body)
  }
  // Reads code that is there from the beginning, and a model waits for it. Every later job is checked by the service.
  const askProgramsOf = (root: EngineRoot) =>
    measureTime(
      async () =>
        (await run.context.iac.programs?.(await withState({ ...root, ...nameRepository(run) }), run.signal)) ?? null,
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
          await placed({ workspace_path: run.workspace.iacRoot, ...nameRepository(run) }),
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
      const asked = { ...(await placed(body)), ...(kind === 'validate' && { json: true }) }
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
