import { basename } from 'node:path'
import { distanceWithin, editDistance } from '../../../src/base/text.ts'

const MAX_NAMED = 5
/** Minimum length of a name for longer names with that beginning to be near. */
const MIN_BEGINNING = 3

/** Distance added to prefix matches, so that they rank after names that differ in few letters. */
const OF_BEGINNINGS = 1_000

interface Near {
  path: string
  /** Edit distance of the names, or of the whole paths. */
  distance: number
  /** Edit distance of the whole paths, which decides between equally near names. */
  whole: number
}

/** Returns up to five paths that a model may have meant: same name, few different letters, then prefixes. */
export function nearPaths(path: string, existing: readonly string[]): string[] {
  const wanted = path
    .replace(/^(\.?\/)+/, '')
    .replace(/\/+$/, '')
    .toLowerCase()
  return existing
    .map((other) => nearnessOf(wanted, other))
    .filter((near) => near !== null)
    .sort((a, b) => a.distance - b.distance || a.whole - b.whole || (a.path < b.path ? -1 : 1))
    .slice(0, MAX_NAMED)
    .map((near) => near.path)
}

/** Returns null when the paths are unrelated. */
function nearnessOf(wanted: string, path: string): Near | null {
  const other = path.toLowerCase()
  const [name, otherName] = [basename(wanted), basename(other)]
  const whole = editDistance(wanted, other)
  if (otherName === name) return { path, distance: 0, whole }
  const allowed = name.length < 6 ? 1 : Math.max(2, Math.floor(name.length / 4))
  const distance = Math.min(distanceWithin(name, otherName, allowed), whole)
  if (distance <= allowed) return { path, distance, whole }
  return isBeginning(stemOf(name), stemOf(otherName)) ? { path, distance: OF_BEGINNINGS, whole } : null
}

const stemOf = (name: string) => name.replace(/\.[^.]*$/, '')

const isBeginning = (a: string, b: string) =>
  Math.min(a.length, b.length) >= MIN_BEGINNING && (a.startsWith(b) || b.startsWith(a))
