import type { EngineDiagnostic } from '../../src/services/iac/additions.ts'
import type { EngineResult, IacJobKind, IacJobs } from '../../src/services/iac/types.ts'
import { recordJob } from '../../src/sessions/status.ts'
import type { Run } from '../run.ts'
import { createProviderSchema, type ProviderSchema } from './provider-schema.ts'

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
