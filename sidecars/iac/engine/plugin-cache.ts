import { mkdir, readdir, realpath, rename, rm, symlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { endsWithin } from '../../../src/base/time.ts'
import { readTail } from '../output/files.ts'
import type { Downloads } from './downloads.ts'
import { createChecksums, readLockFile } from './lock-file.ts'
import { missingProviders } from './wanted-providers.ts'

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
  /** A folder that the engine sees in its place and may write: links to what is there, beside what is new. */
  overlay?: string
}

/** The place at which an engine with an overlay sees the cache itself. */
export const CACHE_BELOW = '/providers'

/** Runs the engine with a plugin cache, or without one; returns the exit code. */
export type RunOnce = (cache: PluginCache | null) => Promise<number>

interface InitOptions {
  turns: Turns
  downloads: Downloads
  /** Path of the errors of the last run. */
  stderr: string
  name: string
  workspace: string
  /** The operator's folder of providers; empty for none. */
  mirror: string
  /** The registry of the engine, for providers whose source names none. */
  registry: string
  /** Fires when the job need not run any more. */
  stopping: AbortSignal
}

/**
 * Runs `init`, which installs every provider from the cache that is there. One that is missing is downloaded by one init
 * at a time, and the others wait for it. The checksums of other platforms, which the engine learns only from a download,
 * are added to the entries that it writes without one.
 */
export async function runInit(run: RunOnce, cache: PluginCache, options: InitOptions): Promise<number> {
  const { downloads, workspace, registry, stopping } = options
  const checksums = createChecksums(cache.path)
  const missing = () => missingProviders(workspace, cache.path, registry)
  // A job that is stopped while it waits ends by itself in `run`.
  const release = await downloads.claim(missing, stopping).catch(() => () => {})
  try {
    const before = await readLockFile(workspace)
    const held = await listPackages(cache.path)
    const code = cache.isWritable ? await runInTurn(run, cache, options) : await runOverCache(run, cache, options)
    if (code !== 0) return code
    const added = (await listPackages(cache.path)).filter((path) => !held.includes(path)).map(packageOf)
    await checksums.remember(workspace, added)
    await checksums.complete(workspace, before)
    return code
  } finally {
    release()
  }
}

/**
 * Runs an init that can write the cache. They take turns, since not every engine supports parallel writes; one that
 * waits for 15 seconds runs without it, as does one when a provider in it is executing ("text file busy").
 */
async function runInTurn(run: RunOnce, cache: PluginCache, { turns, stderr }: InitOptions): Promise<number> {
  // An `init` that fills the cache may download for minutes, one without it starts at once.
  const release = await turns.take(15_000)
  if (!release) return run(null)
  try {
    const code = await run(cache)
    return code !== 0 && BUSY.test(await readTail(stderr, 100_000)) ? await run(null) : code
  } finally {
    release()
  }
}

const BUSY = /text\s+file\s+busy/i

/** Runs an init that cannot write the cache: over it lies a folder of this init, from which the service takes what is new. */
async function runOverCache(run: RunOnce, cache: PluginCache, { name, mirror }: InitOptions): Promise<number> {
  const overlay = join(cache.path, `${INCOMING}${name}`)
  await mkdir(overlay, { mode: 0o755 })
  try {
    for (const path of await listPackages(cache.path)) {
      await mkdir(dirname(join(overlay, path)), { recursive: true, mode: 0o755 })
      await symlink(join(CACHE_BELOW, path), join(overlay, path))
    }
    const code = await run({ ...cache, overlay })
    if (code === 0) await takeOver(overlay, cache.path, mirror)
    return code
  } finally {
    await rm(overlay, { recursive: true, force: true })
  }
}

/** Prefix of folders that an init fills; no host of providers has such a name. */
const INCOMING = '.incoming-'
/** Depth of the cache: `host/namespace/type/version/platform`. */
const LEVELS = 5

/** Lists the packages of a cache as paths in it. */
async function listPackages(cache: string, path = '', level = 1): Promise<string[]> {
  const entries = await readdir(join(cache, path), { withFileTypes: true }).catch(() => [])
  const below = entries
    .filter((entry) => !entry.name.startsWith('.') && (entry.isDirectory() || level === LEVELS))
    .map(async ({ name }) => {
      const child = join(path, name)
      return level === LEVELS ? [child] : await listPackages(cache, child, level + 1)
    })
  return (await Promise.all(below)).flat()
}

/** Returns source and version of a package by its path in the cache. */
function packageOf(path: string): { source: string; version: string } {
  const parts = path.split('/')
  return { source: parts.slice(0, 3).join('/'), version: parts[3] ?? '' }
}

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
