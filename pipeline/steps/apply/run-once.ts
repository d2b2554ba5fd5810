import { conflict, LeaseLost, PlatformError } from '../../../src/base/errors.ts'
import { delay } from '../../../src/base/http.ts'
import { cutEnd, cutMiddle } from '../../../src/base/text.ts'
import { STOPPING } from '../../../src/data/queue.ts'
import { type ApplyResult, recordApplyJob, recordIntent } from '../../../src/rounds/applies.ts'
import type { SavedPlan } from '../../../src/saved-plans/saved-plan.ts'
import type { EngineResult } from '../../../src/services/iac/contract.ts'
import { watchJob } from '../../kit/engine-output.ts'
import { traceEngine } from '../../kit/engine-trace.ts'
import type { BareKit } from '../../kit/kit.ts'
import type { BareRun } from '../../kit/run.ts'
import { nameRepository } from '../../kit/run-job.ts'
import { askToStop, cancelledBy } from '../../kit/stop-jobs.ts'
import { describeState } from '../../workspace/backend-override.ts'
import type { PlanDirectory } from '../../workspace/saved-plans/plan-directory.ts'

/** Returns the error of an apply in a locked session, 409. */
export const blockedSession = (uuid: string) => conflict(`Session ${uuid} is blocked; apply is not allowed.`)

/**
 * Submits the only job of this round. The intent is recorded first, so that no other attempt submits a second one. The
 * submission is not aborted when the worker stops, because its response is the job id. Errors: before the intent 409
 * for a locked session and those of asking the iac service for its features; then those of the iac client; `LeaseLost`.
 * @param onIntent called once the intent is recorded
 */
export async function submitOnce(run: BareRun, plan: SavedPlan, { iacRoot }: PlanDirectory, onIntent: () => void) {
  const { context, round, signal } = run
  const { scope_id, provider, uuid } = round.session
  // The sidecar hashes the plan file again, on a copy that nobody can change before the engine reads it.
  const isHashed = (await context.iac.offers?.('plan_sha256', signal)) ?? false
  const named = nameRepository(run)
  const state = await describeState(context.config, round.session)
  if (!(await recordIntent(context.sql, round, plan))) throw blockedSession(uuid)
  onIntent()
  if (signal.aborted && signal.reason !== STOPPING) throw new LeaseLost()
  const planFile = context.config.paths.session_plan_filename
  const jobId = await context.iac.submit('apply', {
    workspace_path: iacRoot,
    ...named,
    scope_id,
    engine_provider: provider,
    plan_file: planFile,
    ...state,
    ...(isHashed && { plan_sha256: plan.plan_sha256 }),
  })
  await recordJobId(run, jobId)
  return jobId
}

/** Maximum characters that are kept of stdout and of stderr; the middle is cut. */
const MAX_KEPT_CHARS = 8_000_000
/** Pauses before the second, third and fourth attempt to record the job id; the last starts after 3.25 s. */
const PAUSES_MS = [250, 1_000, 2_000]

/** Records the job id, with retries in case the database is briefly unavailable. */
async function recordJobId({ context, round, log }: BareRun, jobId: string): Promise<void> {
  for (const pause of [...PAUSES_MS, null]) {
    try {
      return await recordApplyJob(context.sql, round.id, jobId)
    } catch (error) {
      if (pause === null) throw error
      log.warn('the job of an apply could not be recorded yet', { job_id: jobId, error })
      await delay(pause)
    }
  }
}

/** The message of the iac service for a job that never ran. */
const NEVER_STARTED = 'The job was cancelled before it started.'

/**
 * Waits for the job of an apply, whichever attempt submitted it. On cancellation the service is asked to interrupt the
 * engine, and the wait continues until the engine has written its state. Errors: those of the iac client, including the
 * one for an unknown job.
 */
export const waitForApply = (kit: BareKit, jobId: string): Promise<ApplyResult> =>
  traceEngine(
    kit,
    ['apply', ''],
    () => interruptible(kit.run, jobId, () => measureApply(kit, jobId)),
    (result) => {
      if (result.kind !== 'ran') return [false, result.reason]
      return result.exit_code === 0 ? [true, result.stdout] : [false, result.stderr || result.stdout]
    },
  )

/** Does the work, and asks the service to stop the job as soon as the round is cancelled. */
async function interruptible(run: BareRun, jobId: string, work: () => Promise<ApplyResult>): Promise<ApplyResult> {
  const cancelled = run.cancellation?.signal
  const jobEnd = new AbortController()
  const stop = () => void askToStop(run, jobId, AbortSignal.any([run.signal, jobEnd.signal]))
  if (cancelled?.aborted) stop()
  else cancelled?.addEventListener('abort', stop, { once: true })
  try {
    return await work()
  } catch (error) {
    const by = cancelledBy(run)
    if (by === null || !(error instanceof PlatformError) || error.message !== NEVER_STARTED) throw error
    const reason = `the round was cancelled by ${by} before the engine started.`
    return { kind: 'refused', reason, advice: 'Run a generate round, and apply its plan.' }
  } finally {
    jobEnd.abort()
    cancelled?.removeEventListener('abort', stop)
  }
}

/** Waits for the job, shows its progress, records its duration in meter and metrics, and masks its output. */
async function measureApply(kit: BareKit, jobId: string): Promise<ApplyResult> {
  const { run, secrets } = kit
  const { context, meter, signal } = run
  const started = performance.now()
  const jobEnd = new AbortController()
  const progress = showProgress(kit, jobId, AbortSignal.any([signal, jobEnd.signal]))
  const watch = watchJob(run, secrets, 'apply')
  watch.began(jobId)
  let result: EngineResult | null = null
  try {
    result = await context.iac.wait(jobId, { signal })
    kit.outputs.keep('apply', result)
    // Masked before it is cut, because a cut could leave part of a secret that no mask matches.
    const maskAndCut = async (text: string) => cutMiddle(await secrets.textInSlices(text), MAX_KEPT_CHARS)
    const { exit_code, stdout, stderr } = result
    return { kind: 'ran', exit_code, stdout: await maskAndCut(stdout), stderr: await maskAndCut(stderr) }
  } finally {
    await watch.ended(result)
    jobEnd.abort()
    await progress
    const durationMs = performance.now() - started
    meter.recordEngineTime(durationMs)
    context.metrics?.countEngineTime('apply', durationMs / 1000)
  }
}

/** Interval between reads of the engine's output; an apply of less than 15 s shows no line. */
const PERIOD_MS = 15_000
const MAX_CHARS = 200

/** Shows the last line of the output as the status until `jobEnd` fires. Failures are only logged. */
export async function showProgress({ run, status, secrets }: BareKit, jobId: string, jobEnd: AbortSignal) {
  const { iac } = run.context
  if (!iac.output) return
  let earlierLine = ''
  try {
    for (;;) {
      await delay(PERIOD_MS, jobEnd)
      const output = await iac.output(jobId, jobEnd)
      if (output === null) return
      // Masked before it is cut, because a cut could leave part of a secret that no mask matches.
      const line = lastLine(await secrets.textInSlices(output.stdout))
      if (line !== '' && line !== earlierLine && !jobEnd.aborted) await status.show('apply', line)
      earlierLine = line
    }
  } catch (error) {
    if (!jobEnd.aborted) run.log.info('the progress of an apply could not be shown', { error })
  }
}

/** Returns the last non-blank line, for example `terraform_data.a: Still creating... [20s elapsed]`. */
function lastLine(text: string): string {
  const line = text.split('\n').findLast((each) => each.trim() !== '')
  return line === undefined ? '' : cutEnd(line.trim(), MAX_CHARS)
}
