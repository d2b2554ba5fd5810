import LightningFS from '@isomorphic-git/lightning-fs'

type Entry = Uint8Array | 'directory'

/**
 * Creates a file system of limited size in memory: lightning-fs with a backend of its own, because the library's needs
 * a browser's IndexedDB and leaves a timer running.
 * @param maxBytes sum of all file contents
 */
export function createMemoryFs(maxBytes: number): LightningFS {
  // The published types lack the documented `backend` option.
  const options: LightningFS.Options & { backend: object } = { backend: createMemoryBackend(maxBytes), defer: true }
  return new LightningFS('repository', options)
}

/** Creates the operations that isomorphic-git needs for a bare repository. */
function createMemoryBackend(maxBytes: number) {
  const entries = new Map<string, Entry>([['/', 'directory']])
  let size = 0
  const findEntry = (path: string): Entry => entries.get(normalizePath(path)) ?? throwErrno('ENOENT', path)
  const findFile = (path: string): Uint8Array => {
    const entry = findEntry(path)
    return entry === 'directory' ? throwErrno('EISDIR', path) : entry
  }
  const stat = async (path: string) => toStats(findEntry(path))
  const backend = {
    readFile: async (path: string, { encoding }: { encoding?: string }) => {
      const bytes = findFile(path)
      return encoding ? new TextDecoder().decode(bytes) : bytes
    },
    writeFile: async (path: string, data: string | Uint8Array) => {
      if (entries.get(normalizePath(`${path}/..`)) !== 'directory') throwErrno('ENOENT', path)
      const old = entries.get(normalizePath(path))
      if (old === 'directory') throwErrno('EISDIR', path)
      const bytes = typeof data === 'string' ? new TextEncoder().encode(data) : data
      const next = size + bytes.byteLength - (old instanceof Uint8Array ? old.byteLength : 0)
      if (next > maxBytes) throw new Error(`the repository is larger than ${maxBytes} bytes`)
      size = next
      entries.set(normalizePath(path), bytes)
    },
    unlink: async (path: string) => {
      size -= findFile(path).byteLength
      entries.delete(normalizePath(path))
    },
    readdir: async (path: string) => {
      if (findEntry(path) !== 'directory') throwErrno('ENOTDIR', path)
      const prefix = normalizePath(path) === '/' ? '/' : `${normalizePath(path)}/`
      const below = [...entries.keys()].filter((name) => name !== '/' && name.startsWith(prefix))
      return below.map((name) => name.slice(prefix.length)).filter((name) => !name.includes('/'))
    },
    mkdir: async (path: string) => {
      if (entries.has(normalizePath(path))) throwErrno('EEXIST', path)
      if (entries.get(normalizePath(`${path}/..`)) !== 'directory') throwErrno('ENOENT', path)
      entries.set(normalizePath(path), 'directory')
    },
    rmdir: async (path: string) => {
      if ((await backend.readdir(path)).length > 0) throwErrno('ENOTEMPTY', path)
      entries.delete(normalizePath(path))
    },
    stat,
    lstat: stat,
    readlink: async (path: string) => throwErrno('EINVAL', path),
    symlink: async (_target: string, path: string) => throwErrno('ENOSYS', path),
    // The library calls this after each change; there is nothing to save.
    saveSuperblock: () => {},
  }
  return backend
}

/** Throws an error with the `code` of a file system, which is all that isomorphic-git reads. */
function throwErrno(code: string, path: string): never {
  throw Object.assign(new Error(`${code}: ${path}`), { code })
}

function normalizePath(path: string): string {
  const segments: string[] = []
  for (const segment of path.split('/')) {
    if (segment === '..') segments.pop()
    else if (segment !== '' && segment !== '.') segments.push(segment)
  }
  return `/${segments.join('/')}`
}

const toStats = (entry: Entry) =>
  entry === 'directory'
    ? { type: 'dir', mode: 0o040000, size: 0, ino: 0, mtimeMs: 0 }
    : { type: 'file', mode: 0o100644, size: entry.byteLength, ino: 0, mtimeMs: 0 }
