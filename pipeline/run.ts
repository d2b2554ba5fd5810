import type { AgentEvent } from '../src/agent/types.ts'
import type { Context } from '../src/context.ts'
import type { Logger } from '../src/log/logger.ts'
import type { ClaimedRound, Status, Turn } from '../src/sessions/types.ts'
import type { Meter } from './meter.ts'
import type { Workspace } from './workspace/types.ts'

/** One run of one round: what every mode and step receives. */
export interface Run {
  context: Context
  round: ClaimedRound
  workspace: Workspace
  /** Grows as tasks finish; saved at the end of every round. */
  conversation: Turn[]
  log: Logger
  /** Fires when the lease is lost, the worker stops or the round is given up. */
  signal: AbortSignal
  /** Writes a status row verbatim (fenced). */
  setStatus(status: Status, message: string): Promise<void>
  /** Counts tokens and time of every chain of this run. */
  observe(event: AgentEvent): void
  /** Engine time and attempts; `observe` feeds it too. Saved with the round. */
  meter: Meter
}

/** How a mode ended; anything thrown ends the round `failed`. */
export type Outcome = { status: 'completed' } | { status: 'uncompleted'; message: string }

/** A mode reads like its row in the specification. */
export type ModeHandler = (run: Run) => Promise<Outcome>
