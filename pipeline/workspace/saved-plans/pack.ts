import { randomUUID } from 'node:crypto'
import { mkdir, realpath, rm } from 'node:fs/promises'
import { join, relative, resolve } from 'node:path'
import { create, extract, list, type Parser, type ReadEntry } from 'tar'
import type { Config } from '../../../config/types.ts'
import { STATE_KEYS_FILE } from '../../../src/plan/state/managed-state.ts'
import type { SessionFacts } from '../../../src/rounds/round.ts'
import { writeMarker } from '../clone.ts'
import { isInside, resolveLink } from '../files/confine.ts'
import { MASKS_FILE, WORKSPACE_MARKER } from '../files/engine-files.ts'
import { isShared, shareTree } from '../files/private-files.ts'
import { inspectPlanDirectory, keepDirectory, PLAN_DIRECTORY, type PlanDirectory } from './plan-directory.ts'
import { HASH_LIMITS } from './workspace-hash.ts'

/** Packs a directory as tar.gz without what unpacking makes again; null above `maxBytes`. */
export async function packDirectory(clone: string, paths: Config['paths'], maxBytes: number) {
  const chunks: Uint8Array[] = []
  let size = 0
  const filter = (path: string) => !isLeftOut(path, paths)
  const archive = create({ cwd: clone, gzip: true, portable: true, filter }, ['.'])
  for await (const chunk of archive) {
    size += chunk.byteLength
    if (size > maxBytes) return null
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

function isLeftOut(path: string, paths: Config['paths']): boolean {
  const credentials = [paths.backend_override_filename.toLowerCase(), STATE_KEYS_FILE]
  const segments = path.split('/').filter((segment) => segment !== '' && segment !== '.')
  return segments.some((segment, index) => {
    const name = segment.toLowerCase()
    if (name === '.git' || name === WORKSPACE_MARKER || credentials.includes(name)) return true
    return segments[index - 1] === '.terraform' && (name === 'providers' || name.startsWith('terraform.tfstate'))
  })
}

/**
 * Unpacks an archive into a new directory of the session. Errors: those of the disk; a plain one for content that
 * `packDirectory` never packs, such as a path or link that leads out of it, a device, or another plan file. Leaves
 * nothing on the disk then.
 */
export async function unpackDirectory(
  archive: Uint8Array,
  paths: Config['paths'],
  session: Pick<SessionFacts, 'uuid' | 'workspace'>,
  options: { plan_sha256: string },
) {
  const folder = resolve(paths.upload_folder, session.uuid)
  const clone = join(folder, randomUUID())
  const remove = () => rm(clone, { recursive: true, force: true })
  await mkdir(clone, { recursive: true, mode: 0o700 })
  try {
    await unpack(archive, clone)
    await writeMarker(clone)
    if (await isShared(paths.upload_folder)) await shareTree(clone, (name) => name === MASKS_FILE)
    const directory = await inspectPlanDirectory(clone, paths, session, options.plan_sha256)
    if (typeof directory === 'string') throw new Error(`the plan file of the archive is ${directory}`)
    return {
      directory,
      remove,
      /** Makes the directory the plan directory of its session. Returns it with its new path. */
      keep: async (): Promise<PlanDirectory> => {
        await keepDirectory(clone)
        const kept = join(folder, PLAN_DIRECTORY)
        return { clone: kept, iacRoot: join(await realpath(kept), relative(directory.clone, directory.iacRoot)) }
      },
    }
  } catch (error) {
    // The reason of the refusal is thrown. Remains are removed when the session runs next.
    await remove().catch(() => {})
    throw error
  }
}

/** Checks the whole archive before writing its entries in parallel, and waits for all even after a disk error. */
async function unpack(archive: Uint8Array, clone: string): Promise<void> {
  const links = await checkEntries(archive)
  const faults: string[] = []
  const onwarn = (code: string, message: string | Error) => void faults.push(`${code}: ${message}`)
  await feed(extract({ cwd: clone, preserveOwner: false, onwarn }), archive)
  if (faults[0] !== undefined) throw new Error(`the archive could not be unpacked: ${faults[0]}`)
  const root = await realpath(clone)
  for (const link of links) await assertStaysInside(root, join(root, link))
}

/** Returns the paths of links in an archive. Throws for damage and unexpected entries. */
async function checkEntries(archive: Uint8Array): Promise<string[]> {
  let refusedPath: string | null = null
  let size = 0
  let entries = 0
  const links = new Set<string>()
  const onReadEntry = (entry: ReadEntry) => {
    const path = entry.path.replace(/\/+$/, '')
    const segments = path.split('/').filter((segment) => segment !== '' && segment !== '.')
    size += entry.size
    entries++
    const isLink = entry.type === 'SymbolicLink'
    const isKnown = isLink || entry.type === 'File' || entry.type === 'OldFile' || entry.type === 'Directory'
    const leadsOut = path.startsWith('/') || segments.includes('..')
    const isBelowLink = segments.some((_, index) => links.has(segments.slice(0, index + 1).join('/')))
    if (!isKnown || leadsOut || isBelowLink || size > HASH_LIMITS.bytes || entries > HASH_LIMITS.entries)
      refusedPath ??= path
    if (isLink) links.add(segments.join('/'))
    entry.resume()
  }
  await feed(list({ strict: true, onReadEntry }), archive)
  if (refusedPath !== null) throw new Error(`the archive holds an entry that no plan directory has: ${refusedPath}`)
  return [...links]
}

const PIECE = 1024 * 1024

/** Writes an archive to a parser in chunks, and waits for the end of all entries. Errors: the parser's. */
async function feed(parser: Parser, archive: Uint8Array): Promise<void> {
  const ended = Promise.withResolvers<void>()
  parser.on('end', ended.resolve)
  parser.on('error', ended.reject)
  for (let at = 0; at < archive.byteLength; at += PIECE) {
    const goesOn = parser.write(
      Buffer.from(archive.buffer, archive.byteOffset + at, Math.min(PIECE, archive.byteLength - at)),
    )
    if (!goesOn) await Promise.race([new Promise<void>((resolve) => parser.once('drain', resolve)), ended.promise])
  }
  parser.end()
  await ended.promise
}

async function assertStaysInside(root: string, path: string): Promise<void> {
  const target = await resolveLink(path)
  if (target !== null && !isInside(root, target)) throw new Error('the archive holds a link that leads out of it')
}
