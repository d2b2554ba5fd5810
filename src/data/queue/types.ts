import type { Transaction } from '../db/types.ts'

/** The abort reason of a run whose worker stops. The round does not fail: it is handed back to the queue. */
export const STOPPING = 'stopping'

/** The sending side of the queue, which is all that the core needs. */
export interface RoundQueue {
  /** Enqueues the round inside the caller's transaction, so that both happen or neither. */
  enqueue(tx: Transaction, roundId: number): Promise<void>
  /** Whether the queue exists; cheap enough for the readiness check. */
  healthy(): Promise<boolean>
}

/** Name of the queue that wakes workers for waiting rounds. */
export const ROUND_QUEUE = 'rounds'
