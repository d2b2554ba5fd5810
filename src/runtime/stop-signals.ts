/** npm passes on what the terminal or the supervisor has sent to all: one signal arrives twice. */
const SAME_SIGNAL_MS = 1_000

/**
 * The first signal asks for an orderly end; a further one, sent on purpose, ends the process at once.
 * @param options.signals default SIGINT and SIGTERM
 * @param options.exit_code of the end at once; default 1
 */
export function onStopSignal(
  stop: (signal: NodeJS.Signals) => void,
  {
    signals = ['SIGINT', 'SIGTERM'],
    exit_code: exitCode = 1,
  }: { signals?: readonly NodeJS.Signals[]; exit_code?: number } = {},
): void {
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
