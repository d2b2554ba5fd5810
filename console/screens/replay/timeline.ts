/** Waits are shortened to this in a replay: long ones teach nothing. */
export const LONGEST_WAIT_MS = 2_000

export interface Timeline {
  /** When each event comes in the replay, in milliseconds from its beginning. */
  offsets: number[]
  /** How much waiting was left out, in milliseconds. */
  left_out: number
}

/** @param times of the events, in their order, as the API writes them */
export function createTimeline(times: readonly string[]): Timeline {
  const offsets: number[] = []
  let left_out = 0
  let before: number | undefined
  for (const time of times) {
    // Clocks are set back, and a time may not be one: then no time went by.
    const now = Date.parse(time)
    const wait = before === undefined || Number.isNaN(now) ? 0 : Math.max(0, now - before)
    const shown = Math.min(wait, LONGEST_WAIT_MS)
    left_out += wait - shown
    offsets.push((offsets.at(-1) ?? 0) + shown)
    if (!Number.isNaN(now)) before = now
  }
  return { offsets, left_out }
}

/** How many events have come at a moment of the replay. */
export function countAt(offsets: readonly number[], moment: number): number {
  let low = 0
  let high = offsets.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((offsets[middle] as number) <= moment) low = middle + 1
    else high = middle
  }
  return low
}
