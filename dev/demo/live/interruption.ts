import { createInterface } from 'node:readline'
import { DemoError } from '../api.ts'
import type { Display } from '../display.ts'

/** Repeated signals within this time count once: npm passes on what the terminal has sent to both. */
const SAME_SIGNAL_MS = 1_000

/** The state of an interruption by Ctrl-C. */
export type Interruption = ReturnType<typeof createInterruption>

/** Handles Ctrl-C, SIGTERM and a closed terminal. A further signal exits at once, like an interrupted command. */
export function createInterruption(
  display: Display,
  terminal: { input: NodeJS.ReadStream; output: NodeJS.WriteStream },
) {
  const ending = new AbortController()
  let cancelRound: (() => Promise<unknown>) | null = null
  let ask: Question | null = null
  let lastSignal = Number.NEGATIVE_INFINITY
  let wanted = false

  const end = (signal: string) => {
    if (ending.signal.aborted) process.exit(130)
    wanted = true
    ending.abort(new DemoError(`stopped by ${signal}`, true))
  }
  const cancel = () => {
    const work = cancelRound
    cancelRound = null
    wanted = true
    display.event('cancel', 'the round is asked to stop; Ctrl-C again leaves without waiting for it')
    work?.().catch((error: unknown) => {
      display.event('cancel', error instanceof Error ? error.message : 'the round could not be cancelled')
    })
  }
  const askFirst = () => {
    const release = display.hold()
    ask = openQuestion(terminal, 'Cancel this round? [Y/n] ')
    void ask.answer.then((agreed) => {
      ask = null
      release()
      if (agreed === null) return
      if (agreed) return cancel()
      cancelRound = null
      display.line('The round goes on. Ctrl-C ends the demo.')
    })
  }
  const handle = (signal: NodeJS.Signals) => {
    const repeated = performance.now() - lastSignal < SAME_SIGNAL_MS
    lastSignal = performance.now()
    if (repeated) return
    if (ask) ask.close(true)
    else if (signal !== 'SIGINT' || !cancelRound) end(signal)
    else if (terminal.input.isTTY && terminal.output.isTTY) askFirst()
    else cancel()
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => handle(signal))
  // The output was closed, for example with its pipe. Without this the stack would be left running.
  terminal.output.on('error', () => {
    if (!ending.signal.aborted) end('the end of its output')
  })
  return {
    /** Fires when the demo must end. */
    signal: ending.signal,
    /** True from the first Ctrl-C that was confirmed. */
    get wanted(): boolean {
      return wanted
    },
    /**
     * Handles Ctrl-C for a round: the first asks whether to cancel it (without a terminal it cancels), the next ends
     * the demo. Returns a function that restores ending at once.
     */
    duringRound: (work: () => Promise<unknown>) => {
      cancelRound = work
      return () => {
        cancelRound = null
        ask?.close(null)
      }
    },
  }
}

type Question = ReturnType<typeof openQuestion>

/** Asks a yes-or-no question in the terminal. An empty answer and Ctrl-C mean yes. */
function openQuestion({ input, output }: { input: NodeJS.ReadStream; output: NodeJS.WriteStream }, text: string) {
  const lines = createInterface({ input, output })
  const { promise, resolve: close } = Promise.withResolvers<boolean | null>()
  output.write('\n')
  lines.question(text, (answer) => close(!/^\s*n/i.test(answer)))
  lines.on('SIGINT', () => close(true))
  lines.on('close', () => close(false))
  /** `close` answers for the person; null if the question is obsolete. */
  return { answer: promise.finally(() => lines.close()), close }
}
