/** npm passes on what the terminal has sent already: one Ctrl-C may arrive twice. */
const SAME_PRESS_MS = 1_000

/**
 * The first SIGINT, SIGTERM or SIGHUP asks for an orderly end; another one, sent on purpose, ends the
 * process at once.
 */
export function onInterrupt(ask: (signal: NodeJS.Signals) => void): void {
  let first: number | null = null
  const take = (signal: NodeJS.Signals) => {
    if (first === null) {
      first = performance.now()
      ask(signal)
    } else if (performance.now() - first > SAME_PRESS_MS) process.exit(130)
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, take)
}
