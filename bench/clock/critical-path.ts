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

/** A part of a window that no step of the path covers. */
export interface Gap {
  /** The name of the step that ends where it begins, `request` at the beginning of the window. */
  after: string
  /** The name of the step that begins where it ends, `end` at the end of the window. */
  before: string
  ms: number
}

/** Returns the gaps in a path, from the beginning of the window to its end. */
export function gapsIn(path: readonly Interval[], window: { from: number; to: number }): Gap[] {
  const ends = [{ name: 'request', to: window.from }, ...path]
  const starts = [...path, { name: 'end', from: window.to }]
  return starts.flatMap(({ name, from }, index) => {
    const { name: after = '', to = from } = ends[index] ?? {}
    return from > to ? [{ after, before: name, ms: from - to }] : []
  })
}

/** A place of gaps: all that lie between steps of these two names. */
export interface GapPlace extends Gap {
  /** Of all of them together. */
  ms: number
  count: number
  longest: number
}

/** Adds gaps up by their place, the largest sum first. */
export function gapsByPlace(gaps: readonly Gap[]): GapPlace[] {
  const places = Map.groupBy(gaps, ({ after, before }) => JSON.stringify([after, before]))
  return [...places.values()]
    .flatMap((all) => {
      const [first] = all
      const lengths = all.map(({ ms }) => ms)
      const ms = lengths.reduce((sum, one) => sum + one, 0)
      return first ? [{ ...first, ms, count: all.length, longest: Math.max(...lengths) }] : []
    })
    .toSorted((a, b) => b.ms - a.ms)
}

export const lengthOf = (intervals: readonly Interval[]): number =>
  intervals.reduce((total, { from, to }) => total + to - from, 0)
