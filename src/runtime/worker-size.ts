import { availableParallelism, totalmem } from 'node:os'

const MEGABYTE = 1_000_000
/** Most rounds that a worker runs at once by itself: beyond that, another worker also shares the processor time. */
const MOST_ROUNDS = 50
const FEWEST_ROUNDS = 4
/** Part of the memory that rounds may use; the rest is for git, the searches, and documents that are read just then. */
const SHARE = 0.75
/** A worker with one round. */
const WORKER_BYTES = 200 * MEGABYTE
/** A further round that waits for its model, with a margin (`npm run bench -- --only growth-waiting-rounds`). */
const ROUND_BYTES = 16 * MEGABYTE

/**
 * Returns how many rounds a worker runs at once where the configuration leaves it open: as many as fit into the memory.
 * @param bytes of memory; default: that of the machine, or of the container if it is limited
 */
export function roundsThatFit(bytes = memoryLimit()): number {
  const rounds = Math.floor((SHARE * bytes - WORKER_BYTES) / ROUND_BYTES)
  return Math.min(MOST_ROUNDS, Math.max(FEWEST_ROUNDS, rounds))
}

/** Returns the memory that this process may use. Without a limit the system answers 0, or more than there is. */
function memoryLimit(): number {
  const limit = process.constrainedMemory()
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem()
}

/** How many repositories a worker clones at once: clones need processors and memory, other than rounds that wait. */
export const clonesAtOnce = (): number => Math.max(4, 2 * availableParallelism())
