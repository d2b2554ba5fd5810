/** A signal that comes again within this time is the same one: npm passes on what its terminal sent to both. */
const SAME_SIGNAL_MS = 1_000

/**
 * Calls `stop` at the first signal, for an orderly end. A further signal ends the process at once, because somebody
 * sent it on purpose.
 * @param options.signals default SIGINT and SIGTERM
 * @param options.exitCode the exit code of the end at once; default 1
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
