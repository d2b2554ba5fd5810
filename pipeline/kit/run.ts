import type { AgentEvent } from '../../src/agent/types.ts'
import type { Logger } from '../../src/base/log.ts'
import type { Masker } from '../../src/base/masking.ts'
import type { Mode, Status, Turn } from '../../src/base/vocabulary.ts'
import type { ChainName } from '../../src/chains/index.ts'
import type { Context } from '../../src/context.ts'
import type { LlmClient } from '../../src/llm/types.ts'
import type { RoundRecording } from '../../src/observe/round-recorder.ts'
import type { SessionTrace } from '../../src/observe/trace-types.ts'
import type { ClaimedRound } from '../../src/sessions/types.ts'
import type { Workspace } from '../workspace/types.ts'
import type { Meter } from './meter.ts'
import type { TokenBudget } from './models.ts'

/** What a run gets of the context. A model is reached through `BareRun.openModel` alone, which masks every message. */
export type RunContext = Omit<Context, 'llm'>

/** One run of one round: what every mode receives. */
export interface BareRun {
  /** Without the bare model: what a run sends to one passes `openModel`. */
  context: RunContext
  round: ClaimedRound
  /** Grows as tasks finish; saved at the end of every round. */
  conversation: Turn[]
  log: Logger
  /** Fires when the lease is lost, the worker stops or the round is given up. */
  signal: AbortSignal
  /** Writes a status row verbatim (fenced). */
  setStatus(status: Status, message: string): Promise<void>
  /** Counts tokens and time of every chain of this run. */
  observe(event: AgentEvent<ChainName>): void
  /** Engine time and attempts; `observe` feeds it too. Saved with the round. */
  meter: Meter
  /** Absent where nobody collects spans. */
  trace?: SessionTrace
  /** Absent where no model traffic is kept. */
  recording?: RoundRecording
  /** The session's models, metered by `run` and recorded; every message passes `masker` first. */
  openModel(run: Pick<BareRun, 'budget' | 'meter'>, masker: Masker): LlmClient
  /** Absent when sessions may use any number of tokens. */
  budget?: TokenBudget
}

/** The run of a mode that works on the code: what most steps receive. */
export interface Run extends BareRun {
  workspace: Workspace
}

/** How a mode ended; anything thrown ends the round `failed`. */
export type Outcome = { status: 'completed' } | { status: 'uncompleted'; message: string }

/** The mode handed the round back itself, until what it waits for is over: nothing more may be written. */
export interface Parked {
  status: 'parked'
}

/** A mode reads like its row in the specification. */
export type ModeHandler = (run: Run) => Promise<Outcome>

/** A mode and what its rounds need; a clone is made only for those that work in one. */
export type RoundMode = { workspace: true; handle: ModeHandler } | BareMode
export interface BareMode {
  workspace: false
  handle(run: BareRun): Promise<Outcome | Parked>
  /** What has to be told and tidied when the round was interrupted too often to be tried again. */
  giveUp?(run: BareRun): Promise<void>
}
export type Modes = Record<Mode, RoundMode>

export const inWorkspace = (handle: ModeHandler): RoundMode => ({ workspace: true, handle })
