import LightningFS from '@isomorphic-git/lightning-fs'

/** A file or directory of the in-memory file system. */
type Entry = Uint8Array | 'directory'

/**
 * A file system in memory, bounded, for one call: lightning-fs over a backend of ours, because its own
 * backend needs a browser's IndexedDB and leaves a lock timer behind.
 * @param maxBytes sum of all file contents
 */
export function memoryFs(maxBytes: number): LightningFS {
  // The published types do not know the `backend` option that the constructor documents.
  const options: LightningFS.Options & { backend: object } = { backend: memoryBackend(maxBytes), defer: true }
  return new LightningFS('repository', options)
}

/** What isomorphic-git needs for a bare repository. */
function memoryBackend(maxBytes: number) {
  const entries = new Map<string, Entry>([['/', 'directory']])
  let size = 0
  const find = (path: string): Entry => entries.get(normal(path)) ?? fail('ENOENT', path)
  const file = (path: string): Uint8Array => {
    const entry = find(path)
    return entry === 'directory' ? fail('EISDIR', path) : entry
  }
  const stat = async (path: string) => stats(find(path))
  const backend = {
    readFile: async (path: string, { encoding }: { encoding?: string }) => {
      const bytes = file(path)
      return encoding ? new TextDecoder().decode(bytes) : bytes
    },
    writeFile: async (path: string, data: string | Uint8Array) => {
      if (entries.get(normal(`${path}/..`)) !== 'directory') fail('ENOENT', path)
      const old = entries.get(normal(path))
      if (old === 'directory') fail('EISDIR', path)
      const bytes = typeof data === 'string' ? new TextEncoder().encode(data) : data
      const next = size + bytes.byteLength - (old instanceof Uint8Array ? old.byteLength : 0)
      if (next > maxBytes) throw new Error(`the repository is larger than ${maxBytes} bytes`)
      size = next
      entries.set(normal(path), bytes)
    },
    unlink: async (path: string) => {
      size -= file(path).byteLength
      entries.delete(normal(path))
    },
    readdir: async (path: string) => {
      if (find(path) !== 'directory') fail('ENOTDIR', path)
      const prefix = normal(path) === '/' ? '/' : `${normal(path)}/`
      const below = [...entries.keys()].filter((name) => name !== '/' && name.startsWith(prefix))
      return below.map((name) => name.slice(prefix.length)).filter((name) => !name.includes('/'))
    },
    mkdir: async (path: string) => {
      if (entries.has(normal(path))) fail('EEXIST', path)
      if (entries.get(normal(`${path}/..`)) !== 'directory') fail('ENOENT', path)
      entries.set(normal(path), 'directory')
    },
    rmdir: async (path: string) => {
      if ((await backend.readdir(path)).length > 0) fail('ENOTEMPTY', path)
      entries.delete(normal(path))
    },
    stat,
    lstat: stat,
    readlink: async (path: string) => fail('EINVAL', path),
    symlink: async (_target: string, path: string) => fail('ENOSYS', path),
    // Called after each change by the front; there is nothing to save.
    saveSuperblock: () => {},
  }
  return backend
}

/** Callers tell apart only by `code`, as with the file system of a runtime. */
function fail(code: string, path: string): never {
  throw Object.assign(new Error(`${code}: ${path}`), { code })
}

function normal(path: string): string {
  const segments: string[] = []
  for (const segment of path.split('/')) {
    if (segment === '..') segments.pop()
    else if (segment !== '' && segment !== '.') segments.push(segment)
  }
  return `/${segments.join('/')}`
}

function stats(entry: Entry) {
  const is_directory = entry === 'directory'
  return {
    type: is_directory ? 'dir' : 'file',
    mode: is_directory ? 0o040000 : 0o100644,
    size: is_directory ? 0 : entry.byteLength,
    ino: 0,
    mtimeMs: 0,
    ctimeMs: 0,
    uid: 0,
    gid: 0,
    dev: 0,
    isFile: () => !is_directory,
    isDirectory: () => is_directory,
    isSymbolicLink: () => false,
  }
}
