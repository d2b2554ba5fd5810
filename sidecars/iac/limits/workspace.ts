import { createHash } from 'node:crypto'
import { constants } from 'node:fs'
import { type FileHandle, lstat, mkdir, open, readFile, realpath, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'

/** The mark of a clone's top (`pipeline/workspace`); `.git` could belong to an operator's clone around a workspace. */
const MARK = '.platform-workspace'

/**
 * Returns the folder that a configuration may read: the nearest marked folder upwards, else the workspace. A mark from
 * the repository can only narrow this. The result is an absolute real path, never the root of the disk.
 */
export async function findBoundary(workspacePath: string): Promise<string> {
  const workspace = await realpath(workspacePath)
  let folder = workspace
  for (let level = 0; level < 40 && dirname(folder) !== folder; level++) {
    const entry = await lstat(join(folder, MARK)).catch(() => null)
    if (entry?.isFile()) return folder
    folder = dirname(folder)
  }
  return workspace
}

/** Reports whether an `init` of this service, which refuses a repository's providers, has run in a workspace. */
export async function isInitialised(dataDir: string, workspace: string): Promise<boolean> {
  const mark = await readFile(markOf(dataDir, workspace), 'utf8').catch(() => null)
  return mark !== null && mark === (await identityOf(workspace))
}

/** Records that an `init` runs in a workspace. A folder created later under the same path does not count. */
export async function noteInitialised(dataDir: string, workspace: string): Promise<void> {
  await mkdir(join(dataDir, 'initialised'), { recursive: true })
  await writeFile(markOf(dataDir, workspace), await identityOf(workspace), { mode: 0o600 })
}

const markOf = (dataDir: string, workspace: string): string =>
  join(dataDir, 'initialised', createHash('sha256').update(workspace).digest('hex'))

async function identityOf(workspace: string): Promise<string> {
  const { dev, ino, birthtimeMs } = await stat(workspace)
  return `${dev}:${ino}:${birthtimeMs}`
}

/** Opens a regular file, never through a link; null for anything else. Does not wait for a named pipe. */
export async function openPlain(path: string): Promise<FileHandle | null> {
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK
  const file = await open(path, flags).catch(() => null)
  if (file === null || (await file.stat()).isFile()) return file
  await file.close()
  return null
}

/** Reads such a file; null for anything else, and for one of more than `maxBytes`. */
export async function readPlain(path: string, maxBytes: number): Promise<Buffer | null> {
  const file = await openPlain(path)
  try {
    return file !== null && (await file.stat()).size <= maxBytes ? await file.readFile() : null
  } finally {
    await file?.close()
  }
}

/** The file for temporary keys of the state store, named by its backend block (`src/plan/state/managed-state.ts`). */
export const STATE_KEYS_FILE = '.platform-state-credentials'

/** The syntax of keys alone: other settings of that format name programs and files. */
const KEYS_ALONE =
  /^\[platform-state\]\n(?:aws_(?:access_key_id|secret_access_key|session_token) = [A-Za-z0-9+/=_.:~-]+\n){3}$/
const KEY_OF_FILE = /^aws_(?:secret_access_key|session_token) = (\S+)$/gm
const KEY_OF_BLOCK = /^\s*(?:access_key|secret_key|token|sas_token)\s*=\s*"((?:[^"\\]|\\.)*)"/gm

const readKeys = async (path: string): Promise<string> =>
  (await readPlain(path, 64 * 1024).catch(() => null))?.toString('utf8') ?? ''

/** Reports whether the keys file of a workspace holds keys alone, so that the engine may read it. */
export const holdsKeysAlone = async (workspace: string): Promise<boolean> =>
  KEYS_ALONE.test(await readKeys(join(workspace, STATE_KEYS_FILE)))

/** Reads the keys of the state store from files of the workspace, to hide them in the output. */
export async function readStateSecrets(workspace: string, overrideName: string): Promise<string[]> {
  const [keys, override] = await Promise.all(
    [STATE_KEYS_FILE, overrideName].map((name) => readKeys(join(workspace, name))),
  )
  const found = [...(keys ?? '').matchAll(KEY_OF_FILE), ...(override ?? '').matchAll(KEY_OF_BLOCK)]
  return found.flatMap(([, value = '']) => (value === '' ? [] : [value.replaceAll(/\\(.)/g, '$1')]))
}
