import type { AgentEvent } from '../../src/agent/agent-request.ts'
import type { Logger } from '../../src/base/log.ts'
import type { Masker } from '../../src/base/masking.ts'
import type { Mode, Status, Turn } from '../../src/base/vocabulary.ts'
import type { ChainName } from '../../src/chains/index.ts'
import type { Context } from '../../src/context.ts'
import type { EventLog } from '../../src/events/event-log.ts'
import type { LlmClient, Usage } from '../../src/llm/inference.ts'
import type { SessionTrace } from '../../src/observe/trace-types.ts'
import type { ClaimedRound } from '../../src/rounds/round.ts'
import type { RoundResult } from '../../src/rounds/round-result.ts'
import type { Workspace } from '../workspace/types.ts'
import type { Meter } from './meter.ts'
import type { RoundRecording } from './round-recorder.ts'

/**
 * The part of the context that a run gets. It has no model client: a run reaches models only through
 * `BareRun.openModel`, which masks every message.
 */
export type RunContext = Omit<Context, 'llm'>

/** One attempt to run a round. Every mode receives it. */
export interface BareRun {
  context: RunContext
  round: ClaimedRound
  /** The session's conversation. Modes add turns to it; it is saved when the round ends. */
  conversation: Turn[]
  /** The result of the round. Modes and steps fill it in, with masked words; it is saved when the round ends. */
  result: RoundResult
  log: Logger
  /**
   * Fires when the lease is lost, when the worker stops and, in modes that work on the code, when the round is
   * cancelled. An apply is not aborted in the middle; it looks at `cancellation`.
   */
  signal: AbortSignal
  /** Absent when the round cannot be cancelled. */
  cancellation?: Cancellation
  /** Writes a status row with this very message. Errors: `LeaseLost`. */
  setStatus(status: Status, message: string): Promise<void>
  /** Counts tokens and time of a chain's call; the agent loop calls it. */
  observe(event: AgentEvent<ChainName>): void
  /** Counts what the run uses. It is saved with the round. `observe` reports to it as well. */
  meter: Meter
  /** Takes down what the run does, for those who watch it. */
  eventLog: EventLog
  /** Absent while tracing is off. */
  trace?: SessionTrace
  /** Absent when rounds are not recorded. */
  recording?: RoundRecording
  /** Makes the client of the session's models. It counts for `run`, records, and masks every message with `masker`. */
  openModel(run: Pick<BareRun, 'budget' | 'meter'>, masker: Masker): LlmClient
  /** Absent when sessions may use any number of tokens. */
  budget?: TokenBudget
}

/** The request to end a round, and the jobs that have to end before the round does. */
export interface Cancellation {
  /** Fires with `RoundCancelled`. */
  signal: AbortSignal
  /** Fires when the lease is lost or the worker stops, and not when the round is cancelled. */
  held: AbortSignal
  /** Settle when an engine job of the run has ended. */
  jobs: Set<Promise<unknown>>
}

/** The run of a mode that works on the code. Most steps receive it. */
export interface Run extends BareRun {
  workspace: Workspace
}

/** The end of a mode. An error that a mode throws ends the round with the status `failed`. */
export type Outcome = { status: 'completed' } | { status: 'uncompleted'; message: string }

/** The mode itself has handed the round back, to wait for something. The run must not write anything more. */
export interface Parked {
  status: 'parked'
}

/** Runs a mode. */
export type ModeHandler = (run: Run) => Promise<Outcome>

/** A mode, and whether its rounds work in a clone of the repository. A clone is made only for those that do. */
export type RoundMode = { workspace: true; handle: ModeHandler } | BareMode
export interface BareMode {
  workspace: false
  handle(run: BareRun): Promise<Outcome | Parked>
  /** Reports and cleans up when the round was interrupted so often that it is not tried again. */
  giveUp?(run: BareRun): Promise<void>
}
export type Modes = Record<Mode, RoundMode>

export const inWorkspace = (handle: ModeHandler): RoundMode => ({ workspace: true, handle })

/** The tokens that a session may still spend on models. */
export interface TokenBudget {
  /** Errors: `PlatformError` `TokenBudgetExceeded` when nothing is left. */
  check(): void
  spend(usage: Usage): void
}
