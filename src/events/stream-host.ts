import { createPollWheel, type PollWheel } from './poll-wheel.ts'
import type { StatusHub } from './types.ts'

/** What all streams of one application share. */
export interface StreamHost {
  hub: StatusHub
  polls: PollWheel
  /** How to end each open stream. */
  open: Set<() => void>
}

/** Ends every open stream when the hub closes. */
export function createStreamHost(hub: StatusHub, period_ms: number): StreamHost {
  const open = new Set<() => void>()
  hub.closing.addEventListener('abort', () => {
    for (const end of [...open]) end()
  })
  return { hub, polls: createPollWheel(period_ms), open }
}
