import { useEffect, useRef, useState } from 'preact/hooks'

export const SPEEDS = [1, 4, 16] as const
export type Player = ReturnType<typeof usePlayer>

/** Short enough to look continuous, and long enough for a slow machine. */
const TICK_MS = 50
/** The interval for users who prefer reduced motion: fewer, larger steps. */
const CALM_TICK_MS = 1_000

/** Plays events in their own time. It never starts automatically. Two calls before the next drawing both count. */
export function usePlayer({ offsets }: Timeline, start: number) {
  // Callbacks read this, because listeners are renewed after a drawing and a key can be pressed before that.
  const latest = useRef({ count: start, playing: false })
  const [{ count, playing }, draw] = useState(latest.current)
  const [speed, setSpeed] = useState<(typeof SPEEDS)[number]>(1)
  const moment = useRef(0)
  const all = offsets.length
  const change = (next: typeof latest.current) => {
    latest.current = next
    draw(next)
  }
  useEffect(() => {
    if (!playing) return
    let last = performance.now()
    const timer = setInterval(
      () => {
        if (!latest.current.playing) return
        const now = performance.now()
        moment.current += (now - last) * speed
        last = now
        const next = countAt(offsets, moment.current)
        if (next !== latest.current.count || next >= all) change({ count: next, playing: next < all })
      },
      matchMedia('(prefers-reduced-motion: reduce)').matches ? CALM_TICK_MS : TICK_MS,
    )
    return () => clearInterval(timer)
  }, [playing, speed, offsets])
  const put = (next: number, playing: boolean) => {
    const fit = Math.max(0, Math.min(all, next))
    moment.current = offsets[fit - 1] ?? 0
    change({ count: fit, playing })
  }
  return {
    /** The number of shown events. */
    count,
    playing,
    speed,
    setSpeed,
    /** Shows this number of events and stops. */
    goTo: (next: number) => put(next, false),
    /** Shows this number of events more, or fewer if negative, and stops. */
    step: (by: number) => put(latest.current.count + by, false),
    toggle: () => {
      const now = latest.current
      put(!now.playing && now.count >= all ? 0 : now.count, !now.playing)
    },
  }
}

/** The maximum wait in a replay; longer waits are cut. */
const LONGEST_WAIT_MS = 2_000

type Timeline = ReturnType<typeof createTimeline>

/** Returns the timeline of events; `times` are theirs, in order, as the API writes them. */
export function createTimeline(times: readonly string[]) {
  /** The time of each event in the replay, in milliseconds from its start. */
  const offsets: number[] = []
  /** The skipped time in milliseconds. */
  let left_out = 0
  let before: number | undefined
  for (const time of times) {
    // The clock may be set back or the time unreadable: then no time passed.
    const now = Date.parse(time)
    const wait = before === undefined || Number.isNaN(now) ? 0 : Math.max(0, now - before)
    const shown = Math.min(wait, LONGEST_WAIT_MS)
    left_out += wait - shown
    offsets.push((offsets.at(-1) ?? 0) + shown)
    if (!Number.isNaN(now)) before = now
  }
  return { offsets, left_out }
}

/** Returns the number of events before a moment of the replay. */
export const countAt = (offsets: readonly number[], moment: number): number =>
  offsets.findLastIndex((offset) => offset <= moment) + 1
