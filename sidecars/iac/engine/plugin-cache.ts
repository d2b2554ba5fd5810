import { readTail } from '../output/files.ts'

/** A lock that is given to those who ask for it one after the other, in the order in which they asked. */
export class Turns {
  #last: Promise<void> = Promise.resolve()

  /** Answers the function that gives the lock back, or null when the turn did not come within `ms` milliseconds. */
  async take(ms: number): Promise<(() => void) | null> {
    const before = this.#last
    let release = () => {}
    this.#last = new Promise((resolve) => {
      release = resolve
    })
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<'late'>((resolve) => {
      timer = setTimeout(() => resolve('late'), ms)
    })
    const outcome = await Promise.race([before, late])
    clearTimeout(timer)
    if (outcome !== 'late') return release
    before.then(release)
    return null
  }
}

/** An `init` that fills the cache may download for minutes; one without the cache starts at once. */
const CACHE_TURN_MS = 15_000

/** Runs the engine with the plugin cache at this path, or without one; answers the exit code. */
export type RunOnce = (pluginCache: string | null) => Promise<number>

/**
 * Runs `init`. Neither engine promises that two of them may fill one plugin cache at the same time, so they take turns.
 * One that has waited for 15 seconds runs without the cache, and so does one that found a cached provider busy
 * ("text file busy") because another workspace is running it.
 */
export async function runInit(run: RunOnce, cache: string, turns: Turns, stderr: string): Promise<number> {
  const release = await turns.take(CACHE_TURN_MS)
  if (!release) return run(null)
  try {
    const code = await run(cache)
    const busy = code !== 0 && /text file busy/i.test(await readTail(stderr, 100_000))
    return busy ? await run(null) : code
  } finally {
    release()
  }
}
