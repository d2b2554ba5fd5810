import type { Logger } from '../base/log.ts'
import { endsWithin } from '../base/time.ts'

/** One part of the shutdown, with its time limit in milliseconds. */
export interface StopPhase {
  name: string
  limitMs: number
  end: () => Promise<void>
}

/**
 * Runs the phases one after the other at SIGTERM or SIGINT, each within its limit, and exits with code 0. A further
 * signal exits at once. The list is read when the signal comes, so that a process can call this before it boots and
 * extend the list later.
 */
export function stopOnSignal(log: Logger, phases: readonly StopPhase[]): void {
  onStopSignal((signal) => {
    log.info('stopping', { signal })
    void endAll(log, phases).then(() => process.exit(0))
  })
}

/** Logs an unhandled error, with secrets masked, and ends the process with exit code 1. */
export function exitOnFault(log: Logger): void {
  const fail = (error: unknown) => {
    log.error('unexpected fault, the process ends', { error })
    process.exit(1)
  }
  process.on('uncaughtException', fail)
  process.on('unhandledRejection', fail)
}

async function endAll(log: Logger, phases: readonly StopPhase[]): Promise<void> {
  for (const phase of phases) {
    try {
      if (!(await endsWithin(phase.limitMs, phase.end())))
        log.warn(`${phase.name}: not ended within ${phase.limitMs / 1000} s`)
    } catch (error) {
      log.warn(`${phase.name}: ended with an error`, { error })
    }
  }
  log.info('stopped')
}

/** A signal repeated within this time is the same one: npm forwards the signal that the terminal has sent to both. */
const SAME_SIGNAL_MS = 1_000

/**
 * Calls `stop` at the first signal, for an orderly shutdown. A further signal ends the process at once, because it was
 * sent on purpose.
 * @param options.signals default SIGINT and SIGTERM
 * @param options.exitCode the exit code of the immediate end; default 1
 */
export function onStopSignal(
  stop: (signal: NodeJS.Signals) => void,
  options: { signals?: readonly NodeJS.Signals[]; exitCode?: number } = {},
): void {
  const { signals = ['SIGINT', 'SIGTERM'], exitCode = 1 } = options
  let first: number | null = null
  let echoed = false
  const handleSignal = (signal: NodeJS.Signals) => {
    if (first === null) {
      first = performance.now()
      stop(signal)
    } else if (echoed || performance.now() - first > SAME_SIGNAL_MS) process.exit(exitCode)
    else echoed = true
  }
  for (const signal of signals) process.on(signal, handleSignal)
}
