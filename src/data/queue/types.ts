import type { Transaction } from '../db/types.ts'

/** The abort reason of a run whose worker stops. The round does not fail; it returns to the queue. */
export const STOPPING = 'stopping'

/** The sending side of the queue, the only one that the core needs. */
export interface RoundQueue {
  /** Enqueues the round in the caller's transaction, so that both happen or neither. */
  enqueue(tx: Transaction, roundId: number): Promise<void>
  /** True if the queue exists; cheap enough for the readiness check. */
  healthy(): Promise<boolean>
}

/** Name of the queue that wakes workers for waiting rounds. */
export const ROUND_QUEUE = 'rounds'
