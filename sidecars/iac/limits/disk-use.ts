import { lstat, readdir } from 'node:fs/promises'
import { join } from 'node:path'

/** Enough for any workspace that is one; more entries count as too much. */
const MAX_ENTRIES = 500_000

/**
 * Bytes that a folder uses, links not followed, so that shared plugins count once and nowhere here.
 * @param stop_at the walk ends when this is reached
 */
export async function diskUse(folder: string, stop_at: number): Promise<number> {
  let total = 0
  let entries = 0
  const waiting = [folder]
  for (let path = waiting.pop(); path !== undefined && total < stop_at; path = waiting.pop()) {
    const found = await readdir(path, { withFileTypes: true }).catch(() => [])
    entries += found.length
    if (entries > MAX_ENTRIES) return Number.POSITIVE_INFINITY
    for (const entry of found) {
      const child = join(path, entry.name)
      if (entry.isDirectory()) waiting.push(child)
      else if (entry.isFile())
        total += await lstat(child).then(
          ({ size }) => size,
          () => 0,
        )
    }
  }
  return total
}
