/** Calls many listeners once per period each, from one timer that runs only while somebody listens. */
export interface PollWheel {
  /** The first call comes within one period, the next ones a period apart. Answers how to stop. */
  add(on_poll: () => void): () => void
  readonly size: number
}

const SLOTS = 20

/**
 * Listeners are spread over slots by the moment they joined, so that they are not all served in one
 * burst.
 */
export function createPollWheel(period_ms: number): PollWheel {
  const slots = Array.from({ length: SLOTS }, () => new Set<() => void>())
  let size = 0
  let current = 0
  let timer: ReturnType<typeof setInterval> | null = null
  const turn = () => {
    current = (current + 1) % SLOTS
    for (const on_poll of [...(slots[current] ?? [])]) on_poll()
  }
  return {
    add(on_poll) {
      const slot = slots[current]
      slot?.add(on_poll)
      size++
      timer ??= setInterval(turn, period_ms / SLOTS)
      return () => {
        if (!slot?.delete(on_poll)) return
        size--
        if (size > 0 || timer === null) return
        clearInterval(timer)
        timer = null
      }
    },
    get size() {
      return size
    },
  }
}
