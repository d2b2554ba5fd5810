import type { Context } from '../src/context.ts'
import { startWorkingQueue } from '../src/data/queue.ts'
import { startCancelWatch } from '../src/rounds/cancel.ts'
import type { Modes } from './kit/run.ts'
import { type RoundFrame, runRound } from './run-round.ts'

/** The sum is below the ten seconds that container runtimes grant a process to stop. */
const STOP_LIMITS = { finishMs: 4_000, handBackMs: 3_000 }

/** Runs waiting rounds, `worker.concurrency` at a time, until it is stopped. */
export async function startWorker(
  context: Context,
  modes: Modes,
  frame: RoundFrame,
  limits: { finishMs: number; handBackMs: number } = STOP_LIMITS,
) {
  const { concurrency } = context.config.worker
  const cancellations = await startCancelWatch(context.sql, context.log)
  const queue = await startWorkingQueue(context.sql, context.log, {
    concurrency,
    handle: async (roundId, signal) => {
      try {
        await runRound(context, roundId, modes, signal, { ...frame, cancellations })
      } catch (error) {
        context.log.error('a round could not be run', { round_id: roundId, error })
        throw error
      }
    },
  })
  context.log.info('worker ready', { concurrency })
  return {
    /** Claims no more rounds, gives running ones 4 s to finish and releases the rest. */
    stop: async () => {
      await queue.stop(limits)
      await cancellations.close()
    },
  }
}
