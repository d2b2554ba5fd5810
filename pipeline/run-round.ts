import { LeaseLost, PlatformError } from '../src/base/errors.ts'
import { delay } from '../src/base/http.ts'
import type { Logger } from '../src/base/log.ts'
import type { Context } from '../src/context.ts'
import { STOPPING } from '../src/data/queue/types.ts'
import { createPricing } from '../src/llm/prices.ts'
import type { RecordedRound } from '../src/observe/recording.ts'
import type { RoundRecording } from '../src/observe/round-recorder.ts'
import { countSessionTokens } from '../src/sessions/find.ts'
import { finishRound, type RoundEnd } from '../src/sessions/finish.ts'
import { type Claim, claimRound, releaseRound } from '../src/sessions/lease.ts'
import { appendStatus } from '../src/sessions/status.ts'
import type { ClaimedRound, SessionFacts } from '../src/sessions/types.ts'
import { keepLease } from './keep-lease.ts'
import { createMeter } from './kit/meter.ts'
import { createTokenBudget, modelOpener, type TokenBudget } from './kit/models.ts'
import type { BareRun, Modes, Outcome, Parked, RoundMode } from './kit/run.ts'
import type { Workspace } from './workspace/types.ts'

const UNEXPECTED = 'an unexpected error occurred; the log of the worker has the details.'

/** What the frame of a round needs besides the context; injected by the worker. */
export interface RoundFrame {
  openWorkspace(round: ClaimedRound, options: { log: Logger; signal: AbortSignal }): Promise<Workspace>
  /** `system.exception.failure`; never throws. */
  notifyFailure(session: SessionFacts, facts: { round: number; message: string }): Promise<void>
}

/**
 * Runs a waiting round from claim to terminal status; returns when the round is finished, handed
 * back (`signal` fired with reason `stopping`) or taken by another worker.
 * Errors: those of the database, after which the round is offered again.
 */
export async function runRound(
  context: Context,
  round_id: number,
  modes: Modes,
  signal: AbortSignal,
  frame: RoundFrame,
): Promise<void> {
  const claim = await claimRound(context.sql, round_id)
  if (!claim) return
  const log = context.log.with({ session_id: claim.session.uuid, round: claim.number, attempt: claim.attempt })
  const lease = keepLease(context.sql, claim, log)
  const recording = context.recorder?.round(recordedFacts(context, claim))
  let ended: RoundEnd | null = null
  try {
    const run_signal = AbortSignal.any([signal, lease.signal])
    log.info('round starts', { mode: claim.mode })
    const end = await attempt({ ...context, log }, claim, modes, { signal: run_signal, recording, ...frame })
    if (end === 'parked') return log.info('round waits for another one')
    if (end === 'hand back') {
      await releaseRound(context, claim)
      return log.info('round handed back')
    }
    ended = end
    await saveEnd(context, claim, end, lease.signal)
    lease.stop()
    context.metrics?.countRoundEnd(claim.mode, end.status)
    log.info('round ends', { status: end.status })
    if (end.status === 'failed') await frame.notifyFailure(claim.session, { round: claim.number, message: end.message })
  } catch (error) {
    if (!(error instanceof LeaseLost)) throw error
    log.warn('another worker has the round; nothing more is written')
  } finally {
    lease.stop()
    await recording?.close(ended)
  }
}

/** Errors: `LeaseLost`. Anything else that goes wrong is an end. */
async function attempt(
  context: Context,
  claim: Claim,
  modes: Modes,
  frame: RoundFrame & { signal: AbortSignal; recording: RoundRecording | undefined },
): Promise<RoundEnd | 'hand back' | 'parked'> {
  const { signal, recording } = frame
  const conversation = [...claim.history]
  const meter = createMeter({ price: createPricing(context.config.llm.prices) })
  const rest = () => ({ history: conversation, usage: meter.usage() })
  const { llm, ...runContext } = context
  const run: BareRun = {
    context: runContext,
    openModel: modelOpener(llm, recording),
    round: claim,
    conversation,
    log: context.log,
    signal,
    meter,
    setStatus: (status, message) => {
      recording?.addStatus(status)
      return appendStatus(context.sql, claim, status, message)
    },
    observe: meter.observe,
    trace: await context.tracing?.session(claim.session),
    recording,
  }
  try {
    if (claim.interruptions > context.config.worker.max_restarts)
      return await giveUp(modes[claim.mode], run, claim.interruptions)
    const budget = await openBudget(context, claim)
    const { outcome, commit } = await handle(modes[claim.mode], budget ? { ...run, budget } : run, frame)
    if (outcome.status === 'parked') return 'parked'
    const message = outcome.status === 'completed' ? claim.session.operation.toUpperCase() : outcome.message
    return { status: outcome.status, message, commit, ...rest() }
  } catch (error) {
    if (signal.aborted && signal.reason === STOPPING) return 'hand back'
    if (error instanceof LeaseLost || signal.aborted) throw new LeaseLost()
    return { status: 'failed', message: `runner failed: ${reasonOf(error, context.log)}`, commit: null, ...rest() }
  }
}

function recordedFacts({ config, now }: Context, claim: Claim): RecordedRound {
  const { session } = claim
  return {
    session: session.uuid,
    round: claim.number,
    attempt: claim.attempt,
    mode: claim.mode,
    is_partial: claim.is_partial,
    query: claim.query,
    repository: session.workspace.uri,
    iac_path: session.workspace.root_path,
    scope_id: session.scope_id,
    provider: session.provider,
    models: { main: config.llm.model, small: config.llm.small_model },
    recorded_at: now().toISOString(),
  }
}

/** An apply that was under way must not end for want of tokens: what it began is told first. */
async function openBudget({ config, sql }: Context, claim: Claim): Promise<TokenBudget | null> {
  const limit = config.llm.max_session_tokens
  if (limit === 0) return null
  const budget = createTokenBudget(limit, await countSessionTokens(sql, claim.session.id))
  if (claim.mode !== 'apply' || claim.attempt === 1) budget.check()
  return budget
}

/** What a mode cannot tidy up any more does not keep the round from ending. */
async function giveUp(mode: RoundMode, run: BareRun, interruptions: number): Promise<RoundEnd> {
  const message = `runner failed: the round was interrupted ${interruptions} times and is given up.`
  if (!mode.workspace)
    await mode.giveUp?.(run).catch((error: unknown) => {
      if (error instanceof LeaseLost || run.signal.aborted) throw error
      run.log.error('a round that is given up could not be tidied up', { error })
    })
  return { status: 'failed', message, history: run.conversation, commit: null, usage: null }
}

/** `commit`: head of the session branch, where the mode works on it. */
async function handle(
  mode: RoundMode,
  run: BareRun,
  frame: RoundFrame,
): Promise<{ outcome: Outcome | Parked; commit: string | null }> {
  if (!mode.workspace) return { outcome: await mode.handle(run), commit: null }
  const workspace = await frame.openWorkspace(run.round, { log: run.log, signal: run.signal })
  try {
    return { outcome: await mode.handle({ ...run, workspace }), commit: await workspace.head() }
  } finally {
    await workspace.dispose().catch((error: unknown) => run.log.warn('the working copy was not removed', { error }))
  }
}

/** Texts of the platform are shown, those of libraries go to the log. */
function reasonOf(error: unknown, log: Logger): string {
  log.error('round failed', { error })
  return error instanceof PlatformError ? error.message : UNEXPECTED
}

const PAUSES_MS = [250, 1_000, 2_000]

/**
 * Writes the end of a round. A database that is away for a moment costs a wait, not the round.
 * Errors: `LeaseLost`, also when the wait was ended by it; the last error of the database.
 */
async function saveEnd(
  context: Pick<Context, 'sql' | 'cache' | 'queue' | 'log'>,
  round: ClaimedRound,
  end: RoundEnd,
  lost: AbortSignal,
): Promise<void> {
  for (const pause of [...PAUSES_MS, null]) {
    try {
      return await finishRound(context, round, end)
    } catch (error) {
      if (error instanceof LeaseLost || pause === null) throw error
      context.log.warn('the end of the round could not be written yet', { error })
      await delay(pause, lost).catch(() => {
        throw new LeaseLost()
      })
    }
  }
}
