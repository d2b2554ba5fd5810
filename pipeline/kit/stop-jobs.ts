import { RoundCancelled } from '../../src/base/errors.ts'
import { delay } from '../../src/base/http.ts'
import type { BareRun } from './run.ts'

/** Returns the user who cancelled the round, as far as this run knows; null when nobody has. */
export function cancelledBy({ cancellation }: Pick<BareRun, 'cancellation'>): string | null {
  const reason: unknown = cancellation?.signal.reason
  return reason instanceof RoundCancelled ? reason.by : null
}

/** Jobs that write the state. They are always awaited, because only their end shows what they did. */
const WRITES_STATE: readonly string[] = ['apply', 'import', 'state_rm']
/** Maximum wait for any other job of a cancelled round, unless `services.iac.job_timeout` is shorter. */
const STOP_LIMIT_MS = 600_000

/** Asks for the end of a job and waits for it, with a time limit unless it writes the state. Never rejects. */
export async function stopJob(run: BareRun, jobId: string, kind: string, limit: AbortController): Promise<void> {
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

/** Waits for jobs of an interrupted attempt, which may still hold the state lock. Their results are unused. */
export async function waitForEarlierJobs(run: BareRun): Promise<void> {
  const { jobs, attempt } = run.round
  if (attempt <= 1) return
  await Promise.all(Object.values(jobs).map((jobId) => waitForEarlierJob(run, jobId, run.signal)))
}
