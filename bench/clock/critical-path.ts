/** A piece of work between two moments, in milliseconds since 1970. */
export interface Interval {
  kind: 'model' | 'engine'
  name: string
  from: number
  to: number
}

/**
 * Returns the chain of intervals that ends last, in order: from the end of the window back, each time the interval that
 * ends last of those that end before the one found begins. What runs beside the chain is not in it.
 */
export function criticalPath<Each extends Interval>(
  intervals: readonly Each[],
  window: { from: number; to: number },
): Each[] {
  const path: Each[] = []
  let before = window.to
  for (const interval of intervals.toSorted((a, b) => b.to - a.to || b.from - a.from)) {
    if (interval.to > before || interval.from < window.from) continue
    path.unshift(interval)
    before = interval.from
  }
  return path
}

/** Returns the lengths of the gaps in a path, from the beginning of the window to its end, in milliseconds. */
export function gapsIn(path: readonly Interval[], window: { from: number; to: number }): number[] {
  const starts = [...path.map(({ from }) => from), window.to]
  const ends = [window.from, ...path.map(({ to }) => to)]
  return starts.map((start, index) => Math.max(0, start - (ends[index] ?? start))).filter((gap) => gap > 0)
}

export const lengthOf = (intervals: readonly Interval[]): number =>
  intervals.reduce((total, { from, to }) => total + to - from, 0)
