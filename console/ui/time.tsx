import { createContext } from 'preact'
import { useContext, useEffect, useState } from 'preact/hooks'
import { formatAgo, formatMoment, formatSeconds } from './words.ts'

/** Returns the present time, updated every `everyMs` milliseconds; 0 stops it. */
export function useNow(everyMs: number): number {
  const clock = useContext(ClockContext)
  const [now, setNow] = useState(clock)
  useEffect(() => {
    if (everyMs === 0) return
    const timer = setInterval(() => setNow(clock()), everyMs)
    return () => clearInterval(timer)
  }, [everyMs, clock])
  return now
}

/** Shows the age of a moment, with the exact time in its title. */
export function Ago({ at }: { at: string }) {
  const now = useNow(30_000)
  return (
    <time dateTime={at} title={formatMoment(at)}>
      {formatAgo(at, now)}
    </time>
  )
}

/** Shows the time since a start, counting while it runs. */
export function Elapsed({ since, until }: { since: string; until: string | null }) {
  const now = useNow(until === null ? 1_000 : 0)
  const end = until === null ? now : Date.parse(until)
  return <span class="number">{formatSeconds((end - Date.parse(since)) / 1_000)}</span>
}

/** Returns the present time of the platform in milliseconds: the clock of this machine may be wrong. */
export const ClockContext = createContext<() => number>(Date.now)
