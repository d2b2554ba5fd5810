import { createHash } from 'node:crypto'
import type { FileScan } from './findings.ts'
import type { Place } from './rules/place.ts'

/** Smaller files are scanned again more quickly than their scans are worth keeping. */
const MIN_BYTES = 4 * 1024
const MAX_SCANS = 2_000
/** Scans that found more are not kept, so that all of them together stay small. */
const MAX_FOUND = 20

/** What files were found to hold, by their content and place. A scan depends on nothing else. */
export type KnownScans = ReturnType<typeof createKnownScans>

/**
 * Remembers the scans of files, because the jobs of a round check the same files one after the other. The scans used
 * longest ago are forgotten.
 */
export function createKnownScans() {
  const known = new Map<string, FileScan>()
  return {
    get: (key: string): FileScan | undefined => {
      const scan = known.get(key)
      if (scan === undefined) return undefined
      known.delete(key)
      known.set(key, scan)
      return scan
    },
    add: (key: string, scan: FileScan): void => {
      if (scan.findings.length + scan.modules.length > MAX_FOUND) return
      known.set(key, scan)
      const oldest = known.size > MAX_SCANS ? known.keys().next().value : undefined
      if (oldest !== undefined) known.delete(oldest)
    },
    entries: (): [string, FileScan][] => [...known],
  }
}

/** Returns the name of a scan; null for a file that is too small to be remembered. */
export function keyOfScan(content: string, form: 'hcl' | 'json', place: Place): string | null {
  if (content.length < MIN_BYTES) return null
  return createHash('sha256')
    .update(JSON.stringify([form, place]))
    .update('\0')
    .update(content)
    .digest('base64')
}
