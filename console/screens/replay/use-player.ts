import { useEffect, useRef, useState } from 'preact/hooks'
import { countAt, type Timeline } from './timeline.ts'

export const SPEEDS = [1, 4, 16] as const
export type Speed = (typeof SPEEDS)[number]

export interface Player {
  /** How many events are shown. */
  count: number
  playing: boolean
  speed: Speed
  /** Shows so many events, and stops there. */
  goTo(count: number): void
  toggle(): void
  setSpeed(speed: Speed): void
}

/** Often enough for the eye, and rarely enough for a slow machine. */
const TICK_MS = 50
/** Whoever wants little motion gets the same in a few larger steps. */
const CALM_TICK_MS = 1_000

/** Plays events in their own time. It never begins by itself. */
export function usePlayer({ offsets }: Timeline, start: number): Player {
  const [count, setCount] = useState(start)
  const [playing, setPlaying] = useState(false)
  const [speed, setSpeed] = useState<Speed>(1)
  const moment = useRef(0)
  const all = offsets.length
  useEffect(() => {
    if (!playing) return
    let last = performance.now()
    const timer = setInterval(
      () => {
        const now = performance.now()
        moment.current += (now - last) * speed
        last = now
        const next = countAt(offsets, moment.current)
        setCount(next)
        if (next >= all) setPlaying(false)
      },
      matchMedia('(prefers-reduced-motion: reduce)').matches ? CALM_TICK_MS : TICK_MS,
    )
    return () => clearInterval(timer)
  }, [playing, speed, offsets])
  const put = (next: number) => {
    const fit = Math.max(0, Math.min(all, next))
    moment.current = offsets[fit - 1] ?? 0
    setCount(fit)
  }
  return {
    count,
    playing,
    speed,
    setSpeed,
    goTo: (next) => {
      setPlaying(false)
      put(next)
    },
    toggle: () => {
      put(!playing && count >= all ? 0 : count)
      setPlaying(!playing)
    },
  }
}
