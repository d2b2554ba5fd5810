import { readTail } from '../output/files.ts'

/** A lock that is given in order of asking. */
export class Turns {
  #last: Promise<void> = Promise.resolve()

  /** Answers the release, or null when the turn did not come within `ms`; the place in line is then given up. */
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

const CACHE_TURN_MS = 15_000

/** Runs the engine with this plugin cache, or with none; answers the exit code. */
export type RunOnce = (pluginCache: string | null) => Promise<number>

/**
 * Neither engine promises that two `init` may fill one plugin cache at the same time: they take turns,
 * and one that waited long, or met a cached provider that another workspace is running, does without.
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
