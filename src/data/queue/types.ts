import type { Transaction } from '../db/types.ts'

/** Abort reason of a run whose worker stops: the round is handed back, not failed. */
export const STOPPING = 'stopping'

/** The sending side, all that the core needs. The implementation is injected by the process entries. */
export interface RoundQueue {
  /** Enqueues the round inside the caller's transaction, so that both happen or neither. */
  enqueue(tx: Transaction, roundId: number): Promise<void>
  /** Cheap check for readiness. */
  healthy(): Promise<boolean>
}

/** Name of the queue that wakes workers for waiting rounds. */
export const ROUND_QUEUE = 'rounds'
