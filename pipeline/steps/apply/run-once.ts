import { conflict, LeaseLost } from '../../../src/base/errors.ts'
import { delay } from '../../../src/base/http.ts'
import { cutMiddle } from '../../../src/base/text.ts'
import { STOPPING } from '../../../src/data/queue/types.ts'
import type { EngineResult } from '../../../src/services/iac/types.ts'
import { type ApplyResult, recordApplyJob, recordIntent } from '../../../src/sessions/applies.ts'
import type { StoredSeal } from '../../../src/sessions/pins/seal.ts'
import type { BareKit } from '../../kit/kit.ts'
import type { BareRun } from '../../kit/run.ts'
import type { PinnedDirectory } from '../../workspace/pins/pinned.ts'

export const blocked = (uuid: string) => conflict(`Session ${uuid} is blocked; apply is not allowed.`)

/**
 * Submits the one job of this round. That it is about to happen is on record first, so that no other
 * attempt ever does it again; the submission is not cut short, because its answer names the job.
 * @param on_intent called as soon as it is on record
 * Errors: 409 for a locked session, before anything happened; those of the iac client; `LeaseLost`.
 */
export async function submitOnce(
  run: BareRun,
  seal: StoredSeal,
  { iac_root }: PinnedDirectory,
  on_intent: () => void,
): Promise<string> {
  const { context, round, signal } = run
  const { scope_id, provider, uuid } = round.session
  if (!(await recordIntent(context.sql, round, seal))) throw blocked(uuid)
  on_intent()
  if (signal.aborted && signal.reason !== STOPPING) throw new LeaseLost()
  const plan_file = context.config.paths.session_plan_filename
  const job_id = await context.iac.submit('apply', {
    workspace_path: iac_root,
    scope_id,
    engine_provider: provider,
    plan_file,
  })
  await keepJob(run, job_id)
  return job_id
}

/** Of each output; what is missing in the middle is told by the plan, or not at all. */
const MAX_KEPT_CHARS = 8_000_000
const PAUSES_MS = [250, 1_000, 2_000]

/** A database that is away for a moment must not cost the id. */
async function keepJob({ context, round, log }: BareRun, job_id: string): Promise<void> {
  for (const pause of [...PAUSES_MS, null]) {
    try {
      return await recordApplyJob(context.sql, round.id, job_id)
    } catch (error) {
      if (pause === null) throw error
      log.warn('the job of an apply could not be recorded yet', { job_id, error })
      await delay(pause)
    }
  }
}

/**
 * Waits for the job of an apply, in whichever attempt it was submitted.
 * Errors: those of the iac client, among them the one for a job that nobody knows any more.
 */
export async function waitForApply(kit: BareKit, job_id: string): Promise<ApplyResult> {
  const span = kit.trace?.engine('apply', '')
  try {
    const result = await awaitApply(kit, job_id)
    if (result.kind === 'ran')
      span?.end(result.exit_code === 0, result.exit_code === 0 ? result.stdout : result.stderr || result.stdout)
    else span?.end(false, result.reason)
    return result
  } catch (error) {
    span?.fail(error)
    throw error
  }
}

async function awaitApply(kit: BareKit, job_id: string): Promise<ApplyResult> {
  const { context, meter } = kit.run
  const { secrets } = kit
  const started = performance.now()
  try {
    const { exit_code, stdout, stderr } = await waitAndShow(kit, job_id)
    // Masked before it is cut: half of a secret would not be found.
    const kept = (text: string) => cutMiddle(secrets.text(text), MAX_KEPT_CHARS)
    return { kind: 'ran', exit_code, stdout: kept(stdout), stderr: kept(stderr) }
  } finally {
    const duration_ms = performance.now() - started
    meter.recordEngineTime(duration_ms)
    context.metrics?.countEngineTime('apply', duration_ms / 1000)
  }
}

async function waitAndShow(kit: BareKit, job_id: string): Promise<EngineResult> {
  const { context, signal } = kit.run
  const ended = new AbortController()
  const shown = showProgress(kit, job_id, AbortSignal.any([signal, ended.signal]))
  try {
    return await context.iac.wait(job_id, { signal })
  } finally {
    ended.abort()
    await shown
  }
}

/** Short applies say nothing; long ones are heard of at this pace. */
const PERIOD_MS = 15_000
const MAX_CHARS = 200

/**
 * Shows the engine's last line while an apply runs, where the iac service tells it, until `ended` fires.
 * Best effort: whatever goes wrong, the apply goes on.
 */
export async function showProgress(
  { run, status, secrets }: BareKit,
  job_id: string,
  ended: AbortSignal,
): Promise<void> {
  const { iac } = run.context
  if (!iac.output) return
  let shown = ''
  try {
    for (;;) {
      await delay(PERIOD_MS, ended)
      const output = await iac.output(job_id, ended)
      if (output === null) return
      // Masked before it is cut: half of a secret would not be found.
      const line = lastLine(secrets.text(output.stdout))
      if (line !== '' && line !== shown && !ended.aborted) await status.show('apply', line)
      shown = line
    }
  } catch (error) {
    if (!ended.aborted) run.log.info('the progress of an apply could not be shown', { error })
  }
}

/** `terraform_data.a: Still creating... [20s elapsed]`, for example. */
function lastLine(text: string): string {
  const line = text.split('\n').findLast((each) => each.trim() !== '')
  return line === undefined ? '' : line.trim().slice(0, MAX_CHARS)
}
