import { maskedSecretsOf } from '../config/mask.ts'
import type { AgentEvent } from '../src/agent/agent-request.ts'
import { LeaseLost, PlatformError, RoundCancelled } from '../src/base/errors.ts'
import type { Logger } from '../src/base/log.ts'
import { MASKED_SECRET } from '../src/base/mask-secrets.ts'
import { createMasker } from '../src/base/masking.ts'
import { assertBudgetLeft, limitSpend } from '../src/budget/budget.ts'
import type { Budget } from '../src/budget/schema.ts'
import type { ChainName } from '../src/chains/index.ts'
import type { Context } from '../src/context.ts'
import { remedyOf } from '../src/data/db/faults.ts'
import { STOPPING } from '../src/data/queue.ts'
import type { ObjectStore } from '../src/data/storage/object-store.ts'
import { type EventLog, openEventLog } from '../src/events/event-log.ts'
import { createPricing } from '../src/llm/prices.ts'
import type { CancelWatch } from '../src/rounds/cancel.ts'
import { type Claim, claimForRun } from '../src/rounds/claim.ts'
import { cancelledMessage, finishDespiteOutages, type RoundEnd } from '../src/rounds/finish.ts'
import { keepLease } from '../src/rounds/lease.ts'
import type { ClaimedRound, SessionFacts } from '../src/rounds/round.ts'
import { emptyResult } from '../src/rounds/round-result.ts'
import { appendStatus, releaseRound } from '../src/rounds/transitions.ts'
import { countSessionTokens } from '../src/sessions/find.ts'
import { createMeter, createTokenBudget, type Meter } from './kit/meter.ts'
import { createModelOpener } from './kit/models.ts'
import type { RecordedRound, RoundRecorder, RoundRecording } from './kit/recording.ts'
import type { BareRun, Modes, RoundMode } from './kit/run.ts'
import { settleJobs } from './kit/stop-jobs.ts'
import type { Workspace } from './workspace/workspace.ts'

const UNEXPECTED = 'an unexpected error occurred; the log of the worker has the details.'

/** Dependencies of a run besides the context, injected by the worker. */
export interface RoundFrame {
  openWorkspace(round: ClaimedRound, options: { log: Logger; signal: AbortSignal }): Promise<Workspace>
  /** Sends the notification `system.exception.failure`. Never throws. */
  notifyFailure(session: SessionFacts, facts: { round: number; message: string }): Promise<void>
  /** Extends the lease while the event loop is blocked, until the returned function is called. */
  holdLease?(round: ClaimedRound): () => void
  /** Reports cancellations at once; without it, the next extension of the lease does. */
  cancellations?: CancelWatch
  /** Absent unless `llm.record_folder` is set. */
  recorder?: RoundRecorder
}

/**
 * Runs a waiting round from its claim to its terminal status. Returns when the round has ended, when it is released
 * because the worker stops (reason `STOPPING` of `signal`), or when another worker has claimed it. Errors: those of the
 * database, after which the queue offers the round again.
 */
export async function runRound(
  context: Context,
  roundId: number,
  modes: Modes,
  signal: AbortSignal,
  frame: RoundFrame,
): Promise<void> {
  const cancelling = new AbortController()
  const onCancel = (by: string) => cancelling.abort(new RoundCancelled(by))
  const stopWatching = frame.cancellations?.watch(roundId, onCancel)
  try {
    const claim = await claimForRun(context.sql, roundId)
    if (claim?.cancelled_by) onCancel(claim.cancelled_by)
    if (claim) await runClaimed(context, claim, modes, { ...frame, stopping: signal, cancelling, onCancel })
  } finally {
    stopWatching?.()
  }
}

async function runClaimed(
  context: Context,
  claim: Claim,
  modes: Modes,
  frame: RoundFrame & { stopping: AbortSignal; cancelling: AbortController; onCancel(by: string): void },
): Promise<void> {
  // Errors of libraries may quote any value of a plan, so the log has the masks of the round, those that it learns too.
  const log = context.log
    .with({ session_id: claim.session.uuid, round: claim.number, attempt: claim.attempt })
    .masked((text) => eventLog.mask(text))
  const eventLog = openRoundEventLog({ ...context, log }, claim)
  const lease = keepLease(context.sql, claim, log, frame.onCancel)
  const letGo = frame.holdLease?.(claim)
  const recording = frame.recorder?.round(toRecordedRound(context, claim))
  let writtenEnd: RoundEnd | null = null
  try {
    const held = AbortSignal.any([frame.stopping, lease.signal])
    log.info('round starts', { mode: claim.mode })
    const cancelled = frame.cancelling.signal
    // Events must be flushed before anybody sees the end of the round.
    const signals = { held, cancelled, recording, eventLog }
    const end = await attempt({ ...context, log }, claim, modes, { ...frame, ...signals }).finally(eventLog.close)
    if (end === 'parked') return log.info('round waits for another one')
    if (end === 'release') {
      await releaseRound(context, claim)
      return log.info('round released')
    }
    writtenEnd = claim.preview ? endOfPreview(end) : end
    writtenEnd = await finishDespiteOutages(context, claim, writtenEnd, lease.signal)
    lease.stop()
    const { status, message } = writtenEnd
    context.metrics?.countRoundEnd(claim.mode, status)
    log.info('round ends', { status })
    if (status === 'failed') await frame.notifyFailure(claim.session, { round: claim.number, message })
  } catch (error) {
    if (!(error instanceof LeaseLost)) {
      log.error('the round could not be run', { error })
      throw new Error('the round could not be run')
    }
    log.warn('another worker has the round; nothing more is written')
  } finally {
    lease.stop()
    letGo?.()
    await recording?.close(writtenEnd)
  }
}

/** Runs the mode of a round and returns its end. Errors: `LeaseLost`; those of a database that is away. Any other becomes `failed`. */
async function attempt(context: Context, claim: Claim, modes: Modes, frame: RoundFrame & AttemptFrame) {
  const { held } = frame
  const mode = modes[claim.mode]
  const spender = { user_id: claim.session.user_id, round_id: claim.id }
  const onSpend = (budgets: Budget[]) => frame.eventLog.activity({ type: 'budget.left', budgets })
  const llm = limitSpend(context, context.llm, spender, onSpend)
  const run = await openRun({ ...context, llm }, claim, mode, frame)
  const endWith = (status: RoundEnd['status'], message: string, more: Partial<RoundEnd> = {}): RoundEnd => {
    const { conversation: history, meter, result } = run
    return { status, message: noteSecret(run, message), commit: null, history, usage: meter.usage(), result, ...more }
  }
  try {
    if (claim.cancelled_by !== null && mode.workspace) {
      // Cancelled before its claim: jobs of earlier attempts are stopped.
      await settleJobs(run)
      frame.cancelled.throwIfAborted()
    }
    if (claim.interruptions > context.config.worker.max_restarts) return await giveUp(mode, run, claim.interruptions)
    // An apply needs no model: it runs a reviewed plan, and code can tell what became of it.
    if (claim.mode !== 'apply') await assertBudgetLeft(context, spender)
    const budget = await openBudget(context, claim, frame.eventLog)
    const { outcome, commit } = await runMode(mode, budget ? { ...run, budget } : run, frame)
    if (outcome.status === 'parked') return 'parked'
    const message = outcome.status === 'completed' ? claim.session.operation.toUpperCase() : outcome.message
    return endWith(outcome.status, message, { commit })
  } catch (error) {
    if (held.aborted && held.reason === STOPPING) return 'release'
    if (error instanceof LeaseLost || held.aborted) throw new LeaseLost()
    const cancelled = mode.workspace && frame.cancelled.aborted ? frame.cancelled.reason : error
    if (cancelled instanceof RoundCancelled) {
      noteCancellation(run, cancelled)
      // An apply throws this only before submission, so its plan is still valid.
      return endWith('uncompleted', cancelledMessage(cancelled.by), { keeps_plan: claim.mode === 'apply' })
    }
    // The end could be written only by chance; another attempt begins when the lease has run out.
    if (remedyOf(error) !== 'give_up') throw error
    context.log.error('round failed', { error })
    // Only the text of a platform error is for users.
    const message = `runner failed: ${error instanceof PlatformError ? error.message : UNEXPECTED}`
    noteFailure(run, message)
    return endWith('failed', message)
  }
}

const SECRET_TYPED =
  'The request held what looks like a secret; it was masked before anything was stored or sent to a model. Change it, ' +
  'since it has left your hands, and keep it in a secret store or in a sensitive variable, never in a request.'

/** Begins the answer to a request that held a secret with that. Returns the message, which may be the same text. */
function noteSecret({ conversation, round }: BareRun, message: string): string {
  const turn = conversation[round.history.length]
  if (!turn || !round.query.includes(MASKED_SECRET)) return message
  const said = turn.assistant
  turn.assistant = `${SECRET_TYPED}\n\n${said}`.trim()
  return said === message ? turn.assistant : message
}

/**
 * Says in the conversation that a failure ends the session, and what of it stays: the text of the status itself is part
 * of the contract.
 */
function noteFailure({ conversation, round }: BareRun, message: string): void {
  const { branch } = round.session.workspace
  const note =
    `${message}\n\nThis ends the session: a further request in it starts nothing, so open a new session. If ` +
    `something was pushed, the branch ${branch} stays, and a pull request can be opened from it; no plan of it is ` +
    'applied any more.'
  const last = conversation.length > round.history.length ? conversation.at(-1) : undefined
  if (last) last.assistant = `${last.assistant}\n\n${note}`.trim()
  else conversation.push({ user: round.query, assistant: note })
}

/** Notes the cancellation in the last turn of the conversation, except for an apply, which has its report there. */
function noteCancellation({ conversation, round }: BareRun, { by }: RoundCancelled): void {
  const last = conversation.length > round.history.length ? conversation.at(-1) : undefined
  if (last && round.mode !== 'apply') last.assistant = `${last.assistant}\n\n${cancelledMessage(by)}`.trim()
}

/** Ends a round that was interrupted too often, even when the clean-up of the mode fails. */
async function giveUp(mode: RoundMode, run: BareRun, interruptions: number): Promise<RoundEnd> {
  const message = `runner failed: the round was interrupted ${interruptions} times and is given up.`
  if (!mode.workspace)
    await mode.giveUp?.(run).catch((error: unknown) => {
      if (error instanceof LeaseLost || run.signal.aborted) throw error
      run.log.error('a round that is given up could not be tidied up', { error })
    })
  noteFailure(run, message)
  return { status: 'failed', message, history: run.conversation, commit: null, usage: null }
}

/** Runs a mode, in a clone if it needs one. `commit` is the head of the session branch; null without a clone. */
async function runMode(mode: RoundMode, run: BareRun, frame: RoundFrame) {
  if (!mode.workspace) return { outcome: await mode.handle(run), commit: null }
  const workspace = await frame.openWorkspace(run.round, { log: run.log, signal: run.signal })
  run.result.notes.push(...(workspace.notes ?? []))
  try {
    return { outcome: await mode.handle({ ...run, workspace }), commit: await workspace.head() }
  } finally {
    // A running engine would lose its directory, and might leave the state locked.
    if (run.cancellation?.signal.aborted) await settleJobs(run)
    await workspace.dispose().catch((error: unknown) => run.log.warn('the working copy was not removed', { error }))
  }
}

const FAILED = /^runner failed: /

/** Drops conversation, result and commit of a preview. A failed one is `uncompleted`, so rounds can follow. */
export function endOfPreview({ status, message, usage }: RoundEnd): RoundEnd {
  const kept = { usage, history: null, commit: null }
  return status === 'failed'
    ? { ...kept, status: 'uncompleted', message: message.replace(FAILED, 'The preview could not be made: ') }
    : { ...kept, status, message }
}

/** The signals that end an attempt at a round, and its recorders. */
interface AttemptFrame {
  /** Fires when the lease is lost or the worker stops. */
  held: AbortSignal
  /** Fires with `RoundCancelled`. */
  cancelled: AbortSignal
  recording: RoundRecording | undefined
  eventLog: EventLog
}

async function openRun(context: Context, claim: Claim, mode: RoundMode, frame: AttemptFrame): Promise<BareRun> {
  const { held, cancelled, recording, eventLog } = frame
  const meter = createMeter({ price: createPricing(context.config.llm.prices) })
  const { llm, ...runContext } = context
  const run: BareRun = {
    context: { ...runContext, storage: watchUploads(context.storage, eventLog) },
    openModel: createModelOpener(llm, recording),
    round: claim,
    conversation: [...claim.history],
    result: emptyResult(),
    log: context.log,
    signal: mode.workspace ? AbortSignal.any([held, cancelled]) : held,
    cancellation: { signal: cancelled, held, jobs: new Set() },
    meter,
    setStatus: (status, message) => {
      recording?.addStatus(status)
      return appendStatus(context.sql, claim, status, message)
    },
    observe: createObserver(meter, eventLog),
    eventLog,
    trace: await context.tracing?.session(claim.session),
    recording,
  }
  announceCancellation(run)
  return run
}

/** Records in log and event log that the round was cancelled. */
function announceCancellation({ cancellation, log, eventLog }: BareRun): void {
  const announce = () => {
    const reason: unknown = cancellation?.signal.reason
    if (!(reason instanceof RoundCancelled)) return
    log.info('round is cancelled', { by: reason.by })
    eventLog.activity({ type: 'round.cancelling', by: reason.by })
  }
  if (cancellation?.signal.aborted) announce()
  else cancellation?.signal.addEventListener('abort', announce, { once: true })
}

/** Opens the event log of an attempt, in which the secrets of the configuration are masked from the start. */
const openRoundEventLog = ({ sql, log, config }: Context, claim: Claim): EventLog =>
  openEventLog(sql, claim, { log, mask: createMasker(maskedSecretsOf(config)).text })

function toRecordedRound({ config, now }: Context, claim: Claim): RecordedRound {
  const { session } = claim
  return {
    session: session.uuid,
    round: claim.number,
    attempt: claim.attempt,
    mode: claim.mode,
    is_partial: claim.is_partial,
    ...(claim.preview && { preview: true }),
    query: claim.query,
    repository: session.workspace.uri,
    iac_path: session.workspace.root_path,
    scope_id: session.scope_id,
    provider: session.provider,
    models: { main: config.llm.model, small: config.llm.small_model },
    recorded_at: now().toISOString(),
  }
}

/** Creates the token budget, null without a limit. A resumed apply may exceed it, since its result is reported. */
async function openBudget({ config, sql }: Context, claim: Claim, eventLog: EventLog) {
  const limit = config.llm.max_session_tokens
  if (limit === 0) return null
  const budget = createTokenBudget(limit, await countSessionTokens(sql, claim.session.id), (tokens) =>
    eventLog.activity({ type: 'budget.spent', tokens, limit }),
  )
  if (claim.mode !== 'apply' || claim.attempt === 1) budget.check()
  return budget
}

/** Creates `BareRun.observe`: every event is metered, and tool calls are added to the event log. */
export const createObserver =
  (meter: Pick<Meter, 'observe'>, eventLog: EventLog) =>
  (event: AgentEvent<ChainName>): void => {
    meter.observe(event)
    if (event.type !== 'tool') return
    eventLog.activity({
      type: 'tool.called',
      chain: event.chain,
      tool: event.name,
      path: event.path ?? null,
      outcome: event.success ? 'ok' : 'refused',
      seconds: Math.round(event.durationMs) / 1000,
    })
  }

/** Keys of a round's objects, `sessions/<session>/rounds/<round>/<folder>/<name>`. */
const OF_ROUND = /^sessions\/[^/]+\/rounds\/[^/]+\/([^/]+)\/(.+)$/

/** Wraps the store so that each stored object of a round is added to the event log. */
export const watchUploads = <Store extends Pick<ObjectStore, 'put'>>(storage: Store, eventLog: EventLog) => ({
  ...storage,
  put: async (...[key, body, options]: Parameters<ObjectStore['put']>) => {
    const bytes = await storage.put(key, body, options)
    const [, kind, name] = OF_ROUND.exec(key) ?? []
    if (kind && name) eventLog.activity({ type: 'artifact.uploaded', kind, name, bytes })
    return bytes
  },
})
