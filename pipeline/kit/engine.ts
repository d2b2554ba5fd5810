import { gatewayTimeout } from '../../src/base/errors.ts'
import { delay } from '../../src/base/http.ts'
import { createProviderSchema, type ProviderSchema } from '../../src/plan/schema/provider-schema.ts'
import type { EngineDiagnostic } from '../../src/services/iac/answers.ts'
import type { EngineResult, IacJobKind, IacJobs } from '../../src/services/iac/types.ts'
import { recordJob } from '../../src/sessions/status.ts'
import type { Run } from './run.ts'

/** The engine of one run. Its jobs work in the run's engine root, for the session's cloud and scope. */
export interface Engine {
  /**
   * Runs one job and waits for it; its id is on record before it is waited for.
   * Errors: those of `IacClient.run`; `LeaseLost` when the round belongs to another worker by now.
   */
  run<Kind extends IacJobKind>(kind: Kind, body: IacJobs[Kind]): Promise<EngineResult>
  /** Set after an init that went well: it is not repeated unless the engine asks for it. */
  initialised: boolean
  /** What the initialised providers know. */
  schema: ProviderSchema
  /** What the engine says about the code in machine form; null where that is not offered. */
  diagnostics(): Promise<EngineDiagnostic[] | null>
}

export function createEngine(run: Run): Engine {
  const numbers = new Map<IacJobKind, number>()
  const earlier = settleEarlierJobs(run)
  const nextKey = (kind: IacJobKind) => {
    const number = (numbers.get(kind) ?? 0) + 1
    numbers.set(kind, number)
    return `${kind}-${number}`
  }
  const timed = async <T>(job: () => Promise<T>): Promise<T> => {
    const started = performance.now()
    try {
      return await job()
    } finally {
      run.meter.engine(performance.now() - started)
    }
  }
  let initialised = false
  const schema = createProviderSchema(async (request) =>
    initialised
      ? await timed(() => run.context.iac.schema({ workspace_path: run.workspace.iac_root, ...request }, run.signal))
      : null,
  )
  return {
    get initialised() {
      return initialised
    },
    set initialised(value) {
      initialised = value
      schema.forget()
    },
    schema,
    diagnostics: () => timed(() => run.context.iac.diagnostics(run.workspace.iac_root, run.signal)),
    run: async (kind, body) => {
      await earlier
      const key = nextKey(kind)
      return await timed(() =>
        run.context.iac.run(kind, body, {
          signal: run.signal,
          on_submitted: (job_id) => recordJob(run.context.sql, run.round, key, job_id),
        }),
      )
    },
  }
}

/**
 * Jobs of an interrupted attempt worked in a directory that is gone, so their results are of no use.
 * They may still run and hold the lock of the state, so nothing is submitted before they ended.
 */
async function settleEarlierJobs(run: Run): Promise<void> {
  const { jobs, attempt } = run.round
  if (attempt <= 1) return
  await Promise.all(
    Object.values(jobs).map((job_id) =>
      run.context.iac
        .wait(job_id, { signal: run.signal })
        .catch((error: unknown) =>
          run.log.info('an engine job of an interrupted attempt left no result', { job_id, error }),
        ),
    ),
  )
}

const FIRST_PAUSE_MS = 250
const LONGEST_PAUSE_MS = 5_000
const LIMIT_S = 600

/**
 * Repeats an engine command for as long as another round holds the lock of the state: that is no
 * fault of the code, which a model could only make worse.
 * Errors: 504 after ten minutes, or after `services.iac.job_timeout` when that is shorter.
 */
export async function whenStateIsFree(run: Run, command: () => Promise<EngineResult>): Promise<EngineResult> {
  const limit_s = Math.min(LIMIT_S, run.context.config.services.iac.job_timeout)
  const end = performance.now() + limit_s * 1000
  for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
    const result = await command()
    if (!heldByAnother(result)) return result
    if (performance.now() + pause > end)
      throw gatewayTimeout(`The engine state stayed locked by another run for ${limit_s}s.`)
    run.log.info('the engine state is locked by another run', { pause_ms: pause })
    await delay(pause, run.signal)
  }
}

/**
 * The holder's facts, or the answer of a store that keeps one lock only: the holder may be gone before its
 * facts are read. Anything else is a refusal that stays.
 */
const HELD = /^[│\s]*Lock Info:|PreconditionFailed|ConditionalCheckFailed|ConditionalRequestConflict|already locked/m

const heldByAnother = ({ exit_code, stderr }: EngineResult) =>
  exit_code !== 0 && /^[│\s]*Error: Error acquiring the state lock/m.test(stderr) && HELD.test(stderr)
