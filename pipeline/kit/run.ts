import type { AgentEvent } from '../../src/agent/agent-request.ts'
import { LeaseLost } from '../../src/base/errors.ts'
import type { Logger } from '../../src/base/log.ts'
import type { Masker } from '../../src/base/masking.ts'
import type { Mode, Status, Turn } from '../../src/base/vocabulary.ts'
import { BudgetReached } from '../../src/budget/budget.ts'
import type { ChainName } from '../../src/chains/index.ts'
import type { Context } from '../../src/context.ts'
import type { EventLog } from '../../src/events/event-log.ts'
import type { LlmClient } from '../../src/llm/inference.ts'
import type { SessionTrace } from '../../src/observe/tracing.ts'
import { withoutManagedState } from '../../src/plan/state/managed-state.ts'
import type { ClaimedRound } from '../../src/rounds/round.ts'
import type { RoundResult } from '../../src/rounds/round-result.ts'
import type { Workspace } from '../workspace/workspace.ts'
import type { Meter, TokenBudget } from './meter.ts'
import type { RoundRecording } from './recording.ts'

/** The context of a run, without the model client: models are reached only through `BareRun.openModel`, which masks. */
type RunContext = Omit<Context, 'llm'>

/** One attempt at a round, as every mode receives it. */
export interface BareRun {
  context: RunContext
  round: ClaimedRound
  /** The session's conversation. Modes add turns; it is saved when the round ends. */
  conversation: Turn[]
  /** The result of the round, masked. Modes and steps fill it in; it is saved when the round ends. */
  result: RoundResult
  log: Logger
  /** Fires on a lost lease, a stopping worker or, except for an apply, a cancelled round. */
  signal: AbortSignal
  /** The request to cancel the round, and the jobs that have to end before it does; absent when it cannot be cancelled. */
  cancellation?: {
    /** Fires with `RoundCancelled`. */
    signal: AbortSignal
    /** Fires when the lease is lost or the worker stops, not when the round is cancelled. */
    held: AbortSignal
    /** Promises that settle when the engine jobs of the run have ended. */
    jobs: Set<Promise<unknown>>
  }
  /** Writes a status row with exactly this message. Errors: `LeaseLost`. */
  setStatus(status: Status, message: string): Promise<void>
  /** Counts tokens and time of a chain's call, for the agent loop. */
  observe(event: AgentEvent<ChainName>): void
  /** Counts the usage of the run, which is saved with the round. `observe` reports to it as well. */
  meter: Meter
  /** Records what the run does, for those who watch it. */
  eventLog: EventLog
  /** Absent while tracing is off. */
  trace?: SessionTrace
  /** Absent when rounds are not recorded. */
  recording?: RoundRecording
  /** Creates the client of the session's models, which meters for `run`, records, and masks with `masker`. */
  openModel(run: Pick<BareRun, 'budget' | 'meter'>, masker: Masker): LlmClient
  /** Absent when sessions have no token limit. */
  budget?: TokenBudget
}

/** The run of a mode that works on code. */
export type Run = BareRun & { workspace: Workspace }

/** The end of a mode. An error that a mode throws ends the round as `failed`. */
export type Outcome = { status: 'completed' } | { status: 'uncompleted'; message: string }

/** Returned when the mode has parked the round. The run must not write anything more. */
export type Parked = { status: 'parked' }

export type ModeHandler = (run: Run) => Promise<Outcome>

/** A mode, and whether its rounds need a clone of the repository. */
export type RoundMode = { workspace: true; handle: ModeHandler } | BareMode
export interface BareMode {
  workspace: false
  handle(run: BareRun): Promise<Outcome | Parked>
  /** Reports and cleans up when the round was interrupted too often to be tried again. */
  giveUp?(run: BareRun): Promise<void>
}
export type Modes = Record<Mode, RoundMode>

export const inWorkspace = (handle: ModeHandler): RoundMode => ({ workspace: true, handle })

/** Returns the run as its jobs see it that end with `stop` too. */
export function stoppable(run: Run, stop: AbortSignal): Run {
  const { cancellation } = run
  return {
    ...run,
    signal: AbortSignal.any([run.signal, stop]),
    cancellation: {
      signal: cancellation ? AbortSignal.any([cancellation.signal, stop]) : stop,
      held: cancellation?.held ?? run.signal,
      jobs: cancellation?.jobs ?? new Set(),
    },
  }
}

/** Returns a run on the backend of the repository, as where the platform manages no state. */
export const withOwnBackend = <Given extends BareRun>(run: Given): Given => ({
  ...run,
  context: withoutManagedState(run.context),
  round: { ...run.round, session: { ...run.round.session, state_choice: 'keep' } },
})

/**
 * Returns the result of the work, or, with a logged warning, `fallback`. Errors: `LeaseLost`; `BudgetReached`; the
 * signal's reason.
 */
export async function withFallback<T>(
  { signal, log }: Pick<BareRun, 'signal' | 'log'>,
  warning: string,
  fallback: T,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work()
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof LeaseLost || error instanceof BudgetReached) throw error
    log.warn(warning, { error })
    return fallback
  }
}
