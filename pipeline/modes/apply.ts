import { LeaseLost, PlatformError, RoundCancelled } from '../../src/base/errors.ts'
import { applyReportWriter, describeApply } from '../../src/chains/report-writers.ts'
import type { PlannedChange } from '../../src/plan/actions.ts'
import { type StateChange, stateChanges } from '../../src/plan/change-list.ts'
import { storeReport } from '../../src/reports/artifacts.ts'
import type { ApplyReport } from '../../src/reports/schemas.ts'
import { applyFacts, settleApplyReport } from '../../src/reports/settle-apply.ts'
import { type ApplyProgress, type ApplyResult, readApplyProgress, recordApplyResult } from '../../src/rounds/applies.ts'
import { cancelledMessage } from '../../src/rounds/finish.ts'
import { readRoundResult } from '../../src/rounds/round-result.ts'
import { findSavedPlan, type SavedPlan } from '../../src/saved-plans/saved-plan.ts'
import { type BareKit, createBareKit, notify, requestFor } from '../kit/kit.ts'
import { type BareMode, type BareRun, type Outcome, type Parked, withOwnBackend } from '../kit/run.ts'
import { runChain } from '../kit/run-chain.ts'
import { settleStatusAfter } from '../kit/status.ts'
import { cancelledBy } from '../kit/stop-jobs.ts'
import {
  assertUnchanged,
  describeStateTrace,
  discardSavedPlan,
  findReviewedPlan,
  holdProject,
  openPlanDirectory,
  readArchivedMasks,
  refuseMovedState,
  refuseOtherEngine,
  waitForStateLock,
} from '../steps/apply/preconditions.ts'
import { blockedSession, submitOnce, waitForApply } from '../steps/apply/run-once.ts'
import { writeStateKeys } from '../workspace/backend-override.ts'
import { readMasks } from '../workspace/files/private-files.ts'
import { findPlanDirectory, type PlanDirectory } from '../workspace/saved-plans/plan-directory.ts'

/**
 * Applies exactly the reviewed plan, once: nothing is cloned or planned again, and no second job is submitted even when
 * another worker takes over. The transaction that ends the round also ends the plan. A round that is cancelled before
 * its job is submitted keeps the plan; afterwards the engine is interrupted and the report says what it did.
 */
export const apply: BareMode = { workspace: false, handle, giveUp }

/** Returns the run on the state that the session works on. */
const onBackendOf = (run: BareRun): BareRun => (run.round.session.state_choice === 'keep' ? withOwnBackend(run) : run)

interface ApplyState {
  /** Null until the plan was found, and after an attempt that already ended it. */
  plan: SavedPlan | null
  /** What the plan does in the state alone. */
  inState: StateChange[]
  /** Null when the plan directory is not, or no longer, on this disk. */
  directory: PlanDirectory | null
  progress: ApplyProgress
  /** True once the iac service reported the end of the job, so that nothing uses the directory any more. */
  over: boolean
}

async function handle(given: BareRun): Promise<Outcome | Parked> {
  const kit = createBareKit(onBackendOf(given))
  const state = await loadApplyState(kit)
  return await settleStatusAfter(kit, () => runApplyRound(kit, state))
}

async function runApplyRound(kit: BareKit, state: ApplyState): Promise<Outcome | Parked> {
  const { run } = kit
  try {
    const result =
      state.progress.result ?? (await (state.progress.intended ? resumeApply(kit, state) : startApply(kit, state)))
    if (result === 'parked') return { status: 'parked' }
    await writeApplyReport(kit, result, plannedBy(state))
    await discardSavedPlan(run, state.plan, { inUse: result.kind === 'unknown' })
    const by = cancelledBy(run)
    return by === null ? { status: 'completed' } : { status: 'uncompleted', message: cancelledMessage(by) }
  } catch (error) {
    // Another attempt continues the round and needs the plan.
    if (error instanceof LeaseLost || run.signal.aborted) throw error
    if (!state.progress.intended && state.progress.result === null) {
      if (error instanceof RoundCancelled) throw error
      run.cancellation?.signal.throwIfAborted()
    }
    await concludeFailedApply(kit, state, error)
    throw error
  }
}

/** Loads the records and files of earlier attempts, and registers the values to mask. */
async function loadApplyState({ run, secrets }: BareKit): Promise<ApplyState> {
  const { context, round } = run
  const progress = await readApplyProgress(context.sql, round.id)
  const saved = await findSavedPlan(context.sql, round.session.id)
  const plan = saved?.plan ?? null
  const inState = stateChanges(readRoundResult(saved?.result)?.changes?.entries ?? [])
  if (plan === null || !progress.intended) return { plan, inState, directory: null, progress, over: false }
  const found = await findPlanDirectory(context.config.paths, round.session, plan.plan_sha256)
  const directory = typeof found === 'string' ? null : found
  secrets.add(directory ? await readMasks(directory.clone) : await readArchivedMasks(run, plan))
  return { plan, inState, directory, progress, over: false }
}

const plannedBy = ({ plan, inState }: Pick<ApplyState, 'plan' | 'inState'>): Planned => ({
  changes: plan?.changes ?? [],
  inState: plan === null ? [] : inState,
})

/** What the applied plan was to change. */
interface Planned {
  changes: readonly PlannedChange[]
  inState: readonly StateChange[]
}

/** Prepares, submits and awaits the job, and sets `state` for the error handler. Errors: those of the steps. */
async function startApply(kit: BareKit, state: ApplyState): Promise<ApplyResult | 'parked'> {
  const prepared = await prepareApply(untilSubmission(kit), state)
  if ('end' in prepared) return prepared.end
  const { plan, directory } = prepared
  const jobId = await submitOnce(kit.run, plan, directory, () => {
    state.progress = { ...state.progress, intended: true }
  })
  const result = await waitForApply(kit, jobId)
  state.over = true
  return await recordResult(kit.run, plan, result)
}

/** Returns the kit for the time before submission, which is aborted when the round is cancelled. */
function untilSubmission(kit: BareKit): BareKit {
  const { run } = kit
  if (!run.cancellation) return kit
  return { ...kit, run: { ...run, signal: AbortSignal.any([run.signal, run.cancellation.signal]) } }
}

/** Checks and prepares what the job needs; returns the end of the round when no job is to be submitted. */
async function prepareApply(
  kit: BareKit,
  state: ApplyState,
): Promise<{ plan: SavedPlan; directory: PlanDirectory } | { end: ApplyResult | 'parked' }> {
  const { run, secrets, status } = kit
  run.signal.throwIfAborted()
  await status.show('apply', 'Applying infrastructure changes.')
  if (run.round.session.is_blocked) throw blockedSession(run.round.session.uuid)
  const reviewed = await findReviewedPlan(run)
  const { plan } = reviewed
  state.plan = plan
  const hold =
    (await refuseOtherEngine(run, plan)) ?? (await holdProject(kit, plan.project_id, state.progress.waited_s))
  if (hold === 'parked') return { end: hold }
  if (hold !== null) return { end: await recordResult(run, plan, hold) }
  const directory = await openPlanDirectory(run, reviewed)
  state.directory = directory
  secrets.add(await readMasks(directory.clone))
  await waitForStateLock(kit, plan.project_id)
  const refusal = await refuseMovedState(run, plan, directory)
  if (refusal !== null) return { end: await recordResult(run, plan, refusal) }
  // The keys that the plan was made with have expired. They are in a file, which the plan only names.
  const keys = await writeStateKeys(run.context, run.round.session, directory.iacRoot)
  if (keys !== null) secrets.add([keys.secret_key, keys.session_token])
  await assertUnchanged(run, plan, directory)
  return { plan, directory }
}

/** Waits for the job of an earlier attempt; without a recorded job id the result is `unknown`. */
async function resumeApply(kit: BareKit, state: ApplyState): Promise<ApplyResult> {
  const { plan, directory } = state
  await kit.status.show('apply', 'Applying infrastructure changes.')
  const { job_id } = state.progress
  const result: ApplyResult =
    job_id === null
      ? { kind: 'unknown', reason: 'the worker was interrupted while it handed the job to the iac service.' }
      : await waitForApply(kit, job_id)
  state.over = result.kind !== 'unknown'
  if (plan === null) return result
  if (result.kind !== 'unknown' || directory === null) return await recordResult(kit.run, plan, result)
  const trace = await describeStateTrace(kit.run, plan, directory)
  return await recordResult(kit.run, plan, { ...result, reason: `${result.reason}${trace}` })
}

/** Stores and returns the result, so that every later attempt of the round reports the same one. */
async function recordResult<Result extends ApplyResult>({ context, round }: BareRun, plan: SavedPlan, result: Result) {
  await recordApplyResult(context.sql, round, plan.project_id, result)
  return result
}

/** Finishes a failed apply: its result is unknown if submitted, and the directory stays if it may be in use. */
async function concludeFailedApply(kit: BareKit, state: ApplyState, error: unknown) {
  const { run } = kit
  const { plan, directory, progress, over } = state
  try {
    if (progress.intended) {
      const words = error instanceof PlatformError ? error.message : 'an unexpected error occurred.'
      const trace = plan && directory ? await describeStateTrace(run, plan, directory) : ''
      await writeApplyReport(kit, { kind: 'unknown', reason: `${words}${trace}` }, plannedBy(state), { fails: true })
    }
    await discardSavedPlan(run, plan, { inUse: progress.intended && !over && !saysItIsOver(error) })
  } catch (fault) {
    if (fault instanceof LeaseLost || run.signal.aborted) throw fault
    run.log.error('a failed apply could not be told completely', { error: fault })
  }
}

/** True if the iac service reported the end of the engine; after a 503 it may still run. */
const saysItIsOver = (error: unknown): boolean =>
  error instanceof PlatformError && error.code === 'IacJobFailed' && error.status !== 503

/** Finishes a round that was interrupted too often: writes the report and discards the plan. */
async function giveUp(given: BareRun): Promise<void> {
  const run = onBackendOf(given)
  const kit = createBareKit(run)
  const state = await loadApplyState(kit)
  const { plan, progress } = state
  const unknown: ApplyResult = {
    kind: 'unknown',
    reason: 'the round was interrupted again and again while the engine worked.',
  }
  const result = progress.result ?? (progress.intended ? unknown : null)
  if (result !== null) await writeApplyReport(kit, result, plannedBy(state), { fails: true })
  await discardSavedPlan(run, plan, { inUse: result?.kind === 'unknown' })
}

/**
 * Writes and stores the report on an apply, adds a turn to the conversation, and notifies unless all went well.
 * Failures of model or object store do not fail the round, because the apply took place. Errors: `LeaseLost`; the
 * reason of the run's signal.
 * @param options.fails true if the round is going to fail: the report has no prose, and a notification is sent only if
 * the engine ran, because the end of the round sends one
 */
export async function writeApplyReport(
  kit: BareKit,
  result: ApplyResult,
  { changes, inState }: Planned,
  options: { fails: boolean } = { fails: false },
): Promise<void> {
  const { run, secrets } = kit
  const { context, round } = run
  const facts = applyFacts(result, changes, inState)
  const narration = options.fails ? null : await narrate(kit, result, facts)
  const document = settleApplyReport(narration, sayWhoCancelled(run, result, facts), secrets)
  await continueOnFailure(kit, 'the report of an apply could not be stored', () =>
    storeReport(context, round, { type: 'apply', document }, run.signal),
  )
  run.conversation.push({ user: round.query, assistant: document.execution_summary })
  const isExpected = document.status === 'Success' || (cancelledBy(run) !== null && result.kind === 'refused')
  if (isExpected || (options.fails && result.kind !== 'ran')) return
  const words = result.kind === 'ran' ? result.stderr.trim() || document.execution_summary : document.execution_summary
  await notify(kit, 'iac.apply.failure', secrets.text(words))
}

/** Puts the user who cancelled first in the facts of an interrupted apply. */
function sayWhoCancelled(run: BareRun, result: ApplyResult, facts: ApplyReport): ApplyReport {
  const by = cancelledBy(run)
  if (by === null || result.kind !== 'ran' || result.exit_code === 0) return facts
  return { ...facts, execution_summary: `${cancelledMessage(by)} ${facts.execution_summary}` }
}

/** Lets a model write the prose of the report; null without output, on failure or after a cancellation. */
async function narrate(kit: BareKit, result: ApplyResult, facts: ApplyReport): Promise<ApplyReport | null> {
  await kit.status.show(
    'report',
    facts.status === 'Success'
      ? 'Infrastructure changes applied. Generating report'
      : 'The infrastructure changes were not applied completely. Generating report',
  )
  const cancelled = kit.run.cancellation?.signal
  if (result.kind !== 'ran' || cancelled?.aborted) return null
  const signal = cancelled ? { signal: AbortSignal.any([kit.run.signal, cancelled]) } : {}
  const output = kit.secrets.text(describeApply(facts, result.exit_code === 0 ? result.stdout : result.stderr))
  return await continueOnFailure(kit, 'the report of an apply is told without a model', () =>
    runChain(kit, applyReportWriter, { output, request: requestFor(kit) }, signal),
  )
}

/** Returns the result of the work; null, with a logged warning, when it fails. Errors: those that end the round. */
async function continueOnFailure<T>({ run }: BareKit, warning: string, work: () => Promise<T>): Promise<T | null> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof LeaseLost || run.signal.aborted) throw error
    run.log.error(warning, { error })
    return null
  }
}
