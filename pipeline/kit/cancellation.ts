import { RoundCancelled } from '../../src/base/errors.ts'
import { delay } from '../../src/base/http.ts'
import type { EngineResult, IacJobKind, IacJobs } from '../../src/services/iac/contract.ts'
import type { BareRun } from './run.ts'

/** Returns the user who cancelled the round, as far as this run knows; null when nobody has. */
export function cancelledBy({ cancellation }: Pick<BareRun, 'cancellation'>): string | null {
  const reason: unknown = cancellation?.signal.reason
  return reason instanceof RoundCancelled ? reason.by : null
}

/** Jobs that write the state. They are always awaited, because only their end shows what they did. */
const WRITES_STATE: readonly string[] = ['apply', 'import']
/** Maximum wait for any other job of a cancelled round, unless `services.iac.job_timeout` is shorter. */
const LIMIT_MS = 600_000

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
  if (!cancellation) return await context.iac.run(kind, body, { signal: run.signal, onSubmitted })
  const { signal: cancelled, held, jobs } = cancellation
  cancelled.throwIfAborted()
  const limit = new AbortController()
  let jobId: string | null = null
  const stop = async () => {
    if (jobId !== null) await stopJob(run, jobId, kind, limit)
  }
  const onCancel = () => void stop()
  cancelled.addEventListener('abort', onCancel, { once: true })
  const job = context.iac.run(kind, body, {
    signal: AbortSignal.any([held, limit.signal]),
    onSubmitted: async (id) => {
      jobId = id
      await onSubmitted(id)
      if (cancelled.aborted) void stop()
    },
  })
  const settled = job.then(
    () => {},
    () => {},
  )
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
    delay(Math.min(LIMIT_MS, job_timeout * 1000), limit.signal).then(
      () => {
        run.log.warn('an engine job of a cancelled round has not ended; it is left alone', { job_id: jobId, kind })
        limit.abort()
      },
      () => {},
    )
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
export async function waitForEarlierJob({ context, log }: BareRun, jobId: string, signal: AbortSignal): Promise<void> {
  await context.iac.wait(jobId, { signal }).catch((error: unknown) => {
    log.info('an engine job of an interrupted attempt left no result', { job_id: jobId, error })
  })
}
