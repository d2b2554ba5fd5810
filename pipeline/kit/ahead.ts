import type { EventLog } from '../../src/events/event-log.ts'
import { type Run, stoppable } from './run.ts'

export type Ahead = ReturnType<typeof createAhead>

/**
 * Frames work that begins before it is known whether the round needs it. Until then nobody sees anything of it, and
 * what is given up leaves no trace but its cost.
 */
export function createAhead() {
  const stop = new AbortController()
  let held: (() => void)[] | null = []
  /** Does it now, or as soon as the work turns out to be needed. */
  const whenNeeded = (show: () => void): void => {
    if (held) held.push(show)
    else if (!stop.signal.aborted) show()
  }
  const release = (): void => {
    const waiting = held ?? []
    held = null
    for (const show of waiting) whenNeeded(show)
  }
  return {
    whenNeeded,
    /** Returns the run as engine jobs of such work see it: they end when it is given up. */
    within: (run: Run): Run => ({ ...stoppable(run, stop.signal), eventLog: holdBack(run.eventLog, whenNeeded) }),
    /** True once the work was given up. */
    get isOver() {
      return stop.signal.aborted
    },
    /** Shows what was held back, in order, and all that follows. */
    take: release,
    /** Stops the work, unless it was taken. What was held back is dropped. */
    giveUp: (): void => {
      if (held === null) return
      stop.abort(new Error('the round does not need it'))
      release()
    },
  }
}

const holdBack = (log: EventLog, whenNeeded: Ahead['whenNeeded']): EventLog => ({
  ...log,
  activity: (event) => whenNeeded(() => log.activity(event)),
  output: (event) => whenNeeded(() => log.output(event)),
})
