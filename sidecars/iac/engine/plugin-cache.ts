import { lstat, mkdir, readdir, realpath, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { endsWithin } from '../../../src/base/time.ts'
import { readTail } from '../output/files.ts'

/** A lock that is given in the order of the requests for it. */
export class Turns {
  #last: Promise<void> = Promise.resolve()

  /** Returns the function that releases the lock; null when the wait took more than `ms` milliseconds. */
  async take(ms: number): Promise<(() => void) | null> {
    const before = this.#last
    const { promise, resolve: release } = Promise.withResolvers<void>()
    this.#last = promise
    if (await endsWithin(ms, before)) return release
    before.then(release)
    return null
  }
}

/** The folder in which engines keep providers between workspaces. */
export interface PluginCache {
  path: string
  /** False where the engine can only read it. */
  isWritable: boolean
}

/** Runs the engine with a plugin cache, or without one; returns the exit code. */
export type RunOnce = (cache: PluginCache | null) => Promise<number>

interface InitOptions {
  turns: Turns
  /** Path of the errors of the last run. */
  stderr: string
  name: string
  workspace: string
  /** The operator's folder of providers; empty for none. */
  mirror: string
}

/**
 * Runs `init`. Inits that can write the cache take turns, since no engine supports parallel writes; one that waits for
 * 15 seconds runs without it. With a read-only cache, missing providers go into a folder of this init, and the service
 * moves them. Runs without the cache when a provider in it is executing ("text file busy").
 */
export async function runInit(run: RunOnce, cache: PluginCache, options: InitOptions): Promise<number> {
  const { turns, stderr } = options
  if (!cache.isWritable) return runReadingCache(run, cache, options)
  // An `init` that fills the cache may download for minutes, one without it starts at once.
  const release = await turns.take(15_000)
  if (!release) return run(null)
  try {
    const code = await run(cache)
    return code !== 0 && (await says(stderr, BUSY)) ? await run(null) : code
  } finally {
    release()
  }
}

const BUSY = /text\s+file\s+busy/i
/** The error of a read-only cache. The engine breaks its lines between words. */
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
    // The workspace refers to the removed folder, and the engine keeps what is installed already.
    const data = join(workspace, '.terraform')
    const entry = await lstat(data).catch(() => null)
    if (entry?.isDirectory()) await rm(join(data, 'providers'), { recursive: true, force: true })
    const linked = await run(cache)
    return linked === 0 ? 0 : await run(null)
  } finally {
    await rm(incoming, { recursive: true, force: true })
  }
}

/** Prefix of folders that an init fills; no host of providers has such a name. */
const INCOMING = '.incoming-'
/** Depth of the cache: `host/namespace/type/version/platform`. */
const LEVELS = 5

/** Removes the folders that inits of a killed service left behind. */
export async function removeIncoming(cache: string): Promise<void> {
  const names = (await readdir(cache)).filter((name) => name.startsWith(INCOMING))
  await Promise.all(names.map((name) => rm(join(cache, name), { recursive: true, force: true })))
}

/** Moves new providers into the cache and nothing else; those of the mirror are links into it. */
async function takeOver(from: string, to: string, mirror: string, level = 1): Promise<void> {
  for (const entry of await readdir(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)]
    const isTaken = entry.isDirectory() || (level === LEVELS && (await leadsInto(source, mirror)))
    if (!isTaken || entry.name.startsWith('.')) continue
    await mkdir(dirname(target), { recursive: true })
    if (level < LEVELS) await takeOver(source, target, mirror, level + 1)
    // Another init may have stored the same provider in the meantime.
    else await rename(source, target).catch(() => {})
  }
}

async function leadsInto(link: string, mirror: string): Promise<boolean> {
  if (mirror === '') return false
  const [target, folder] = await Promise.all([link, mirror].map((path) => realpath(path).catch(() => '')))
  return Boolean(folder) && target?.startsWith(`${folder}/`) === true
}
