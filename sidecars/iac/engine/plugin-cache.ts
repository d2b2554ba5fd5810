import { lstat, mkdir, readdir, realpath, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
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

/** The folder in which engines keep providers between workspaces. */
export interface PluginCache {
  path: string
  /** False where the engine can only read it. */
  isWritable: boolean
}

/** Runs the engine with a plugin cache, or without one; answers the exit code. */
export type RunOnce = (cache: PluginCache | null) => Promise<number>

export interface InitOptions {
  turns: Turns
  /** Where the errors of the last run are. */
  stderr: string
  /** Of the job. */
  name: string
  workspace: string
  /** The operator's folder of providers; empty where there is none. */
  mirror: string
}

/**
 * Runs `init`. Where the engine can write the cache, inits take turns, since neither engine promises that two of them
 * may fill it at the same time; one that has waited for 15 seconds runs without it. Where the engine can only read it,
 * a provider that is missing goes into a folder of this init, from which the service takes it into the cache. Runs
 * without the cache when a cached provider is busy ("text file busy") because another workspace is running it.
 */
export async function runInit(run: RunOnce, cache: PluginCache, options: InitOptions): Promise<number> {
  const { turns, stderr } = options
  if (!cache.isWritable) return runReadingCache(run, cache, options)
  const release = await turns.take(CACHE_TURN_MS)
  if (!release) return run(null)
  try {
    const code = await run(cache)
    return code !== 0 && (await says(stderr, BUSY)) ? await run(null) : code
  } finally {
    release()
  }
}

const BUSY = /text\s+file\s+busy/i
/** The engine breaks its lines between words. */
const READ_ONLY = /read-only\s+file\s+system|permission\s+denied/i
const says = async (stderr: string, words: RegExp) => words.test(await readTail(stderr, 100_000))

async function runReadingCache(
  run: RunOnce,
  cache: PluginCache,
  { stderr, name, workspace, mirror }: InitOptions,
): Promise<number> {
  const code = await run(cache)
  if (code === 0 || !(await says(stderr, READ_ONLY))) return code
  const incoming = join(cache.path, `${INCOMING}${name}`)
  await mkdir(incoming, { mode: 0o755 })
  try {
    const filled = await run({ path: incoming, isWritable: true })
    if (filled !== 0) return filled
    await takeOver(incoming, cache.path, mirror)
    // The workspace refers to the folder that goes now, and the engine keeps what is installed already.
    await removeInstalled(workspace)
    const linked = await run(cache)
    return linked === 0 ? 0 : await run(null)
  } finally {
    await rm(incoming, { recursive: true, force: true })
  }
}

/** First part of the name of a folder that an init fills. No host of providers is called like that. */
const INCOMING = '.incoming-'
/** `host/namespace/type/version/platform`, as the engine lays out its cache. */
const LEVELS = 5

/** Removes the folders of inits that a service which was killed has left behind. */
export async function removeIncoming(cache: string): Promise<void> {
  const names = (await readdir(cache)).filter((name) => name.startsWith(INCOMING))
  await Promise.all(names.map((name) => rm(join(cache, name), { recursive: true, force: true })))
}

/** Moves the providers that are new into the cache; those of the mirror are links into it. Nothing else is taken. */
async function takeOver(from: string, to: string, mirror: string, level = 1): Promise<void> {
  for (const entry of await readdir(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)]
    const isTaken = entry.isDirectory() || (level === LEVELS && (await leadsInto(source, mirror)))
    if (!isTaken || entry.name.startsWith('.')) continue
    await mkdir(dirname(target), { recursive: true })
    if (level < LEVELS) await takeOver(source, target, mirror, level + 1)
    // Another init may have brought the same provider in the meantime, which is as good.
    else await rename(source, target).catch(() => {})
  }
}

async function leadsInto(link: string, mirror: string): Promise<boolean> {
  if (mirror === '') return false
  const [target, folder] = await Promise.all([link, mirror].map((path) => realpath(path).catch(() => '')))
  return target !== '' && folder !== '' && (target ?? '').startsWith(`${folder}/`)
}

async function removeInstalled(workspace: string): Promise<void> {
  const data = join(workspace, '.terraform')
  const entry = await lstat(data).catch(() => null)
  if (entry?.isDirectory()) await rm(join(data, 'providers'), { recursive: true, force: true })
}
