import type { Interval } from '../clock/critical-path.ts'
import type { Waited } from './observe.ts'

/** What the platform does while neither engine nor model works. A moment counts for the first one that is open in it. */
export const PARTS = [
  'git, remote',
  'git, local',
  'other processes',
  'object store',
  'engine service',
  'model server',
  'other services',
  'database',
  'code',
] as const
export type Part = (typeof PARTS)[number]
export type Parts = Record<Part, number>

/** Origins of the services that the worker asks, such as `http://127.0.0.1:8080`. */
export interface Origins {
  engine: string
  model: string
  store: string
}

interface Window {
  from: number
  to: number
}

const REMOTE = /^git (?:ls-remote|clone|fetch|push)$/

/** Names the part of something that the worker waited for. */
export function partOf({ kind, name }: Waited, { engine, model, store }: Origins): Part {
  if (kind === 'statement') return 'database'
  if (kind === 'process') {
    if (!name.startsWith('git ')) return 'other processes'
    return REMOTE.test(name) ? 'git, remote' : 'git, local'
  }
  const address = name.slice(name.indexOf(' ') + 1)
  const isAt = (origin: string) => origin !== '' && address.startsWith(origin)
  if (isAt(store)) return 'object store'
  if (isAt(engine)) return 'engine service'
  return isAt(model) ? 'model server' : 'other services'
}

/** A stretch of a window in which no step runs, with the steps that end and begin around it. */
export interface Stretch extends Window {
  after: string
  before: string
}

/** Returns the stretches of a window that no step covers. At its ends they lie beside `request` and `end`. */
export function uncovered(steps: readonly Pick<Interval, 'name' | 'from' | 'to'>[], window: Window): Stretch[] {
  const stretches: Stretch[] = []
  let [reached, after] = [window.from, 'request']
  for (const { name, from, to } of steps.toSorted((a, b) => a.from - b.from)) {
    if (to <= reached || from >= window.to) continue
    if (from > reached) stretches.push({ from: reached, to: from, after, before: name })
    reached = to
    after = name
  }
  if (reached < window.to) stretches.push({ from: reached, to: window.to, after, before: 'end' })
  return stretches
}

/**
 * Divides the time of stretches among the parts: each moment goes to the first part, in their order, of which something
 * is open in it, and to `code` if nothing is, which is code of the worker and what it waits for without asking anybody.
 * @returns milliseconds, which add up to the length of the stretches
 */
export function divide(stretches: readonly Window[], waited: readonly Waited[], origins: Origins): Parts {
  const parts = Object.fromEntries(PARTS.map((part) => [part, 0])) as Parts
  const placed = waited.map((one) => ({ ...one, rank: PARTS.indexOf(partOf(one, origins)) }))
  for (const { from, to } of stretches) {
    const open = placed.filter((one) => one.from < to && one.to > from)
    const ends = open.flatMap((one) => [one.from, one.to]).filter((at) => at > from && at < to)
    const moments = [from, ...ends.sort((a, b) => a - b), to]
    for (const [index, begin] of moments.slice(0, -1).entries()) {
      const end = moments[index + 1] ?? begin
      const ranks = open.filter((one) => one.from <= begin && one.to >= end).map(({ rank }) => rank)
      parts[PARTS[Math.min(...ranks)] ?? 'code'] += end - begin
    }
  }
  return parts
}
