import { createHash, type Hash } from 'node:crypto'
import { constants } from 'node:fs'
import { open, readlink, realpath } from 'node:fs/promises'
import { join, relative } from 'node:path'
import type { Config } from '../../../config/types.ts'
import { internal } from '../../../src/base/errors.ts'
import { forEachOf } from '../../../src/base/gate.ts'
import { STATE_KEYS_FILE } from '../../../src/plan/state/managed-state.ts'
import { listEntries } from '../../../src/runtime/files.ts'
import type { PlanDirectory } from './plan-directory.ts'

/** Limits of a workspace that can be hashed, also those of its archive, so that a small one cannot fill the disk. */
export const HASH_LIMITS = { bytes: 4 * 1024 * 1024 * 1024, entries: 500_000 }
const CHUNK_BYTES = 256 * 1024
/** Files that are read at once. */
const READERS = 8

interface Walk {
  root: Buffer
  /** Paths that are left out, relative to the clone. */
  leftOut: ReadonlySet<string>
  limits: { bytes: number; entries: number }
  hash: Hash
  /** For as many files as are read at once. */
  buffers: Buffer[]
  bytes: number
  entries: number
}

/**
 * Returns the hexadecimal SHA-256 of what an apply may read besides the plan file: names, contents and link
 * targets. Left out are the plan file, which has its own hash, and what restoring makes again: git's files, the backend
 * override and its keys, and the plugins, which the engine compares with the included lock file. Errors: 500 for a
 * workspace that is too large, or has entries other than files, directories and links.
 * @param directory the clone, and the real path of the engine root in it
 * @param limits for tests
 */
export async function hashWorkspace(
  { clone, iacRoot }: Pick<PlanDirectory, 'clone' | 'iacRoot'>,
  paths: Config['paths'],
  limits: { bytes: number; entries: number } = HASH_LIMITS,
): Promise<string> {
  const hash = createHash('sha256')
  const buffers = Array.from({ length: READERS }, () => Buffer.allocUnsafe(CHUNK_BYTES))
  const root = await realpath(clone)
  const leftOut = new Set(notHashed(paths).map((name) => join(relative(root, iacRoot), name)))
  const walk: Walk = { root: Buffer.from(root), leftOut, limits, hash, buffers, bytes: 0, entries: 0 }
  await addDirectory(walk, Buffer.alloc(0))
  return hash.digest('hex')
}

/** Returns paths relative to the engine root. Files of the same name in other folders, such as modules, are hashed. */
const notHashed = (paths: Config['paths']): string[] => [
  paths.session_plan_filename,
  paths.backend_override_filename,
  STATE_KEYS_FILE,
  '.terraform/providers',
  '.terraform/terraform.tfstate',
  '.terraform/terraform.tfstate.backup',
]

const SLASH = Buffer.from('/')
const GIT = Buffer.from('.git')
const child = (directory: Buffer, name: Buffer): Buffer =>
  directory.length === 0 ? name : Buffer.concat([directory, SLASH, name])

/** Names are bytes, because two that are not UTF-8 would become the same text. */
async function addDirectory(walk: Walk, directory: Buffer): Promise<void> {
  const listed = await listEntries(absolute(walk, directory))
  listed.sort((a, b) => Buffer.compare(a.name, b.name))
  walk.entries += listed.length
  if (walk.entries > walk.limits.entries) throw tooLarge(walk)
  const entries = listed
    .map(({ name, kind }) => ({ name, kind, path: child(directory, name) }))
    .filter(({ name, path }) => !name.equals(GIT) && !walk.leftOut.has(path.toString('utf8')))
  const files = entries.filter(({ kind }) => kind.isFile())
  const digests = new Map<Buffer, Buffer>()
  await forEachOf(files, READERS, async ({ path }) => digests.set(path, await digestOf(walk, path)))
  for (const { kind, path } of entries) {
    const digest = digests.get(path)
    if (digest) addFacts(walk, 'file', path, digest)
    else if (kind.isDirectory()) await addDirectory(walk, path)
    else if (kind.isSymbolicLink()) addFacts(walk, 'link', path, await readlink(absolute(walk, path), 'buffer'))
    else throw internal('The workspace holds something that is neither a file, a directory nor a link.')
  }
}

const absolute = ({ root }: Walk, path: Buffer): Buffer => (path.length === 0 ? root : child(root, path))

/** Prefixes every part with its length, so that different files never give the same bytes. */
function addFacts({ hash }: Walk, kind: string, path: Buffer, content: Buffer): void {
  hash.update(`${kind} ${path.length} ${content.length}\n`).update(path).update(content)
}

async function digestOf(walk: Walk, path: Buffer): Promise<Buffer> {
  const file = await open(absolute(walk, path), constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  const buffer = walk.buffers.pop() ?? Buffer.allocUnsafe(CHUNK_BYTES)
  try {
    const content = createHash('sha256')
    for (;;) {
      const { bytesRead } = await file.read(buffer, 0, buffer.byteLength, null)
      if (bytesRead === 0) break
      walk.bytes += bytesRead
      if (walk.bytes > walk.limits.bytes) throw tooLarge(walk)
      content.update(buffer.subarray(0, bytesRead))
    }
    return content.digest()
  } finally {
    walk.buffers.push(buffer)
    await file.close()
  }
}

const tooLarge = ({ limits }: Walk) =>
  internal(
    `The workspace is too large to be sealed: at most ${limits.entries} files of ` +
      `${Math.floor(limits.bytes / 1024 ** 2)} MiB together can be. Remove large files from the repository.`,
  )
