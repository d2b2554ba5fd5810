import { randomUUID } from 'node:crypto'
import { copyFile, link, lstat, mkdir, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Config } from '../../../config/types.ts'
import { sha256Hex } from '../../../src/base/bytes.ts'
import type { Logger } from '../../../src/base/log.ts'
import { type Git, MIB } from './git.ts'
import { gitFolder } from './place.ts'

/** Folder of the mirrors in the folder of the git directories; no name of a session looks like it. */
export const MIRRORS = 'mirrors'
/** A mirror of more packs is made anew, because git searches each of them for each object. */
const MAX_PACKS = 20
/** A mirror that has grown to so many times its first size is made anew, because most of it is no longer used. */
const MAX_GROWTH = 2
const NEW = '.new-'
/** A generation that is still being written after so long belongs to a worker that died. */
const UNFINISHED_MS = 3_600_000

/** What a mirror knows beside the objects. */
interface Facts {
  /** The default branch and its commit, of which the mirror has all files. */
  branch: string
  commit: string
  /** Bytes of the packs when the mirror was made. */
  first_bytes: number
}

/** One state of a mirror: a folder that is written once and never changed. */
interface Generation {
  path: string
  bytes: number
}

/**
 * Makes git directory and work tree of a run from what was fetched last of this repository, and fetches what is new. The packs are
 * links of the same files, so that nothing is copied and a mirror may be removed at any time.
 * @returns the default branch, with its commit where that was not fetched; null where there is no mirror that serves, and
 * then neither of the two. Errors: those of `git.network`; the output of a failed look at the remote goes to `fail`, which throws
 */
export async function takeMirror(
  git: Git,
  paths: Config['paths'],
  { log, fail }: { log: Logger; fail(reason: string): never },
): Promise<{ branch: string; commit: string | null } | null> {
  const folder = await mirrorOf(git, paths)
  const [newest] = await generationsIn(folder)
  if (!newest) return null
  const discard = async (reason: unknown) => {
    log.warn('the mirror of a repository is not used', { reason })
    await rm(git.place.directory, { recursive: true, force: true })
    await rm(git.place.workTree, { recursive: true, force: true })
    await rm(newest.path, { recursive: true, force: true })
    return null
  }
  const remote = await git.network(['ls-remote', '--symref', '--', git.url, 'HEAD'], { cwd: gitFolder(paths) })
  if (remote.code !== 0) return fail(remote.stopped ?? remote.stderr)
  const head = readHeadOf(remote.stdout)
  // The usual clone says what is wrong with a repository without such a branch.
  if (!head) return null
  try {
    const facts = await readFacts(newest)
    if (facts.branch !== head.branch) return await discard('the default branch has another name')
    await materialise(git, newest.path, facts)
    const isNewest = facts.commit === head.commit
    if (!isNewest) {
      const reference = `refs/remotes/origin/${facts.branch}`
      const refspec = `+refs/heads/${facts.branch}:${reference}`
      const fetched = await git.network(['fetch', '--quiet', '--no-tags', '--depth=1', 'origin', refspec])
      if (fetched.code !== 0) return await discard(fetched.stopped ?? fetched.stderr)
      await git.run(['update-ref', `refs/heads/${facts.branch}`, reference])
    }
    const now = new Date()
    await utimes(folder, now, now)
    return { branch: facts.branch, commit: isNewest ? facts.commit : null }
  } catch (error) {
    git.signal?.throwIfAborted()
    return await discard(error)
  }
}

/** Reads default branch and commit from `ls-remote --symref … HEAD`. */
function readHeadOf(text: string): { branch: string; commit: string } | null {
  const [, branch] = /^ref: refs\/heads\/(.+)\tHEAD$/m.exec(text) ?? []
  const [, commit] = /^([0-9a-f]{40,64})\tHEAD$/m.exec(text) ?? []
  return branch && commit ? { branch, commit } : null
}

/** Makes a git directory that is at the commit of a mirror; the fetch of a newer one tells the host of that commit. */
async function materialise(git: Git, mirror: string, { branch, commit }: Facts): Promise<void> {
  const { directory, workTree } = git.place
  await mkdir(workTree)
  await mkdir(join(directory, 'refs'), { recursive: true, mode: 0o700 })
  await mkdir(join(directory, 'objects', 'pack'), { recursive: true })
  await linkPacks(join(mirror, 'pack'), join(directory, 'objects', 'pack'))
  await copyFiles(mirror, directory)
  const references = [`refs/heads/${branch}`, `refs/remotes/origin/${branch}`]
  await writeFile(join(directory, 'packed-refs'), references.map((name) => `${commit} ${name}\n`).join(''))
  await writeFile(join(directory, 'HEAD'), `ref: refs/heads/${branch}\n`)
}

/** Copies the files of a git directory that a mirror has as they are. A history of one commit is not shallow. */
async function copyFiles(from: string, to: string): Promise<void> {
  await copyFile(join(from, 'config'), join(to, 'config'))
  await copyFile(join(from, 'shallow'), join(to, 'shallow')).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error
  })
}

const readFacts = async ({ path }: Generation): Promise<Facts> =>
  JSON.parse(await readFile(join(path, 'facts.json'), 'utf8'))

/**
 * Keeps what a run has fetched for later runs with the same repository, and removes the mirrors used longest ago when
 * all together are over `git.mirror_mib`. Never throws: failures are logged.
 */
export async function keepMirror(
  git: Git,
  paths: Config['paths'],
  { branch, commit, log }: { branch: string; commit: string; log: Logger },
): Promise<void> {
  const most = git.limits.mirror_mib * MIB
  if (most === 0) return
  try {
    const folder = await mirrorOf(git, paths)
    const old = await generationsIn(folder)
    const before = old[0] ? await readFacts(old[0]) : null
    if (before?.commit === commit && before.branch === branch) return
    await mkdir(folder, { recursive: true, mode: 0o700 })
    const made = join(folder, NEW + randomUUID())
    await mkdir(join(made, 'pack'), { recursive: true, mode: 0o700 })
    const { bytes, packs } = await linkPacks(join(git.place.directory, 'objects', 'pack'), join(made, 'pack'))
    await copyFiles(git.place.directory, made)
    const facts: Facts = { branch, commit, first_bytes: before?.first_bytes ?? bytes }
    await writeFile(join(made, 'facts.json'), JSON.stringify(facts))
    const isWorthIt = packs <= MAX_PACKS && bytes <= facts.first_bytes * MAX_GROWTH + MIB && bytes <= most
    if (isWorthIt) await rename(made, join(folder, `${String(Date.now()).padStart(15, '0')}.${bytes}.${randomUUID()}`))
    else await rm(made, { recursive: true, force: true })
    for (const { path } of old) await rm(path, { recursive: true, force: true })
    await removeUnfinished(folder)
    await removeOldest(paths, most)
  } catch (error) {
    git.signal?.throwIfAborted()
    log.warn('what was fetched of a repository could not be kept', { reason: error })
  }
}

/** Removes what workers left that died while they wrote a generation. */
async function removeUnfinished(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    const path = join(folder, name)
    const begun = name.startsWith(NEW) ? await stat(path).catch(() => null) : null
    if (begun && Date.now() - begun.mtimeMs > UNFINISHED_MS) await rm(path, { recursive: true, force: true })
  }
}

/** Removes the mirrors used longest ago until the rest takes no more than `most` bytes. */
async function removeOldest(paths: Config['paths'], most: number): Promise<void> {
  const parent = join(gitFolder(paths), MIRRORS)
  const mirrors: { path: string; bytes: number; used: number }[] = []
  for (const name of await readdir(parent)) {
    const path = join(parent, name)
    const used = await stat(path).catch(() => null)
    const generations = await generationsIn(path)
    if (used) mirrors.push({ path, bytes: generations.reduce((sum, { bytes }) => sum + bytes, 0), used: used.mtimeMs })
  }
  let total = mirrors.reduce((sum, { bytes }) => sum + bytes, 0)
  for (const { path, bytes } of mirrors.sort((a, b) => a.used - b.used)) {
    if (total <= most) return
    await rm(path, { recursive: true, force: true })
    total -= bytes
  }
}

/** The folder of a repository's mirror. The account is part of the name, because another one may see other branches. */
async function mirrorOf(git: Git, paths: Config['paths']): Promise<string> {
  const { user, token } = git.limits
  return join(gitFolder(paths), MIRRORS, await sha256Hex(JSON.stringify([git.url, user, token])))
}

/** Lists the generations of a mirror, the newest first. One that is being written is none. */
async function generationsIn(folder: string): Promise<Generation[]> {
  const names = await readdir(folder).catch(() => [])
  return names
    .filter((name) => /^\d+\.\d+\./.test(name))
    .sort()
    .reverse()
    .map((name) => ({ path: join(folder, name), bytes: Number(name.split('.')[1]) }))
}

/** Links the packs of one folder into another; copies them where the file system has no links between the two. */
async function linkPacks(from: string, to: string): Promise<{ bytes: number; packs: number }> {
  const names = (await readdir(from)).filter((name) => /^pack-[0-9a-f]+\.(pack|idx|rev)$/.test(name))
  let bytes = 0
  // Git looks for an index first, so that its pack must be there before it.
  for (const name of names.sort((a, b) => Number(a.endsWith('.idx')) - Number(b.endsWith('.idx')))) {
    const source = join(from, name)
    await link(source, join(to, name)).catch(async (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') throw error
      await copyFile(source, join(to, name))
    })
    bytes += (await lstat(source)).size
  }
  return { bytes, packs: names.filter((name) => name.endsWith('.pack')).length }
}
