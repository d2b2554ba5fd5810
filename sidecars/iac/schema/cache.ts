import { randomUUID } from 'node:crypto'
import { mkdir, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { SchemaIndex } from './index-document.ts'

/** A document on disk and the positions of its parts. */
export interface StoredSchema {
  path: string
  index: SchemaIndex
}

const LIMITS = { entries: 32, bytes: 1024 ** 3 }
const DOCUMENT = 'schema.json'
const INDEX = 'index.json'

export type SchemaCache = ReturnType<typeof createSchemaCache>

/** Keeps documents of `providers schema` in a folder, by lock file. Removes the least recently used first. */
export function createSchemaCache(folder: string, limits: typeof LIMITS = LIMITS) {
  const remove = (name: string): Promise<void> => rm(join(folder, name), { recursive: true, force: true })

  async function measure(name: string): Promise<{ name: string; bytes: number; used: number }> {
    const [used, bytes] = await Promise.all([
      stat(join(folder, name)).then(({ mtimeMs }) => mtimeMs),
      stat(join(folder, name, DOCUMENT)).then(({ size }) => size),
    ]).catch(() => [0, 0])
    return { name, bytes, used }
  }

  async function evict(newest: string): Promise<void> {
    const names = (await readdir(folder)).filter((name) => !name.endsWith('.tmp') && name !== newest)
    const [first, ...others] = await Promise.all([newest, ...names].map(measure))
    let bytes = first?.bytes ?? 0
    let count = 1
    for (const entry of others.sort((a, b) => b.used - a.used)) {
      bytes += entry.bytes
      if (++count > limits.entries || bytes > limits.bytes) await remove(entry.name)
    }
  }

  return {
    /** Creates the folder, and removes incomplete documents of an earlier process. */
    async open(): Promise<void> {
      await mkdir(folder, { recursive: true, mode: 0o700 })
      const names = await readdir(folder)
      await Promise.all(names.filter((name) => name.endsWith('.tmp')).map(remove))
    },
    /** Returns the stored document; null when it is missing or unreadable. */
    async find(key: string): Promise<StoredSchema | null> {
      const entry = join(folder, key)
      try {
        const index: SchemaIndex = JSON.parse(await readFile(join(entry, INDEX), 'utf8'))
        const now = new Date()
        await utimes(entry, now, now)
        return { path: join(entry, DOCUMENT), index }
      } catch {
        return null
      }
    },
    /** Moves the document at `path`, on the same disk, into the cache. */
    async store(key: string, path: string, index: SchemaIndex): Promise<StoredSchema> {
      const temporary = `${key}.${randomUUID()}.tmp`
      await mkdir(join(folder, temporary), { mode: 0o700 })
      await rename(path, join(folder, temporary, DOCUMENT))
      await writeFile(join(folder, temporary, INDEX), JSON.stringify(index), { mode: 0o600 })
      await remove(key)
      // Another workspace with the same lock file may have stored its document meanwhile.
      await rename(join(folder, temporary), join(folder, key)).catch(() => remove(temporary))
      await evict(key)
      return { path: join(folder, key, DOCUMENT), index }
    },
  }
}
