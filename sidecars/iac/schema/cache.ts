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

/** Keeps documents of `providers schema` on disk, by lock file. Removes the least recently used first. */
export class SchemaCache {
  readonly #folder: string
  readonly #limits: typeof LIMITS

  constructor(folder: string, limits: typeof LIMITS = LIMITS) {
    this.#folder = folder
    this.#limits = limits
  }

  /** Creates the folder, and removes incomplete documents of an earlier process. */
  async open(): Promise<void> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 })
    const names = await readdir(this.#folder)
    await Promise.all(names.filter((name) => name.endsWith('.tmp')).map((name) => this.#remove(name)))
  }

  /** Returns the stored document; null when it is missing or unreadable. */
  async find(key: string): Promise<StoredSchema | null> {
    const folder = join(this.#folder, key)
    try {
      const index: SchemaIndex = JSON.parse(await readFile(join(folder, INDEX), 'utf8'))
      const now = new Date()
      await utimes(folder, now, now)
      return { path: join(folder, DOCUMENT), index }
    } catch {
      return null
    }
  }

  /** Moves the document at `path`, on the same disk, into the cache. */
  async store(key: string, path: string, index: SchemaIndex): Promise<StoredSchema> {
    const temporary = `${key}.${randomUUID()}.tmp`
    const folder = join(this.#folder, temporary)
    await mkdir(folder, { mode: 0o700 })
    await rename(path, join(folder, DOCUMENT))
    await writeFile(join(folder, INDEX), JSON.stringify(index), { mode: 0o600 })
    await this.#remove(key)
    // Another workspace with the same lock file may have stored its document meanwhile.
    await rename(folder, join(this.#folder, key)).catch(() => this.#remove(temporary))
    await this.#evict(key)
    return { path: join(this.#folder, key, DOCUMENT), index }
  }

  async #evict(newest: string): Promise<void> {
    const names = (await readdir(this.#folder)).filter((name) => !name.endsWith('.tmp') && name !== newest)
    const entries = await Promise.all([newest, ...names].map((name) => this.#measure(name)))
    const [first, ...others] = entries
    let bytes = first?.bytes ?? 0
    let count = 1
    for (const entry of others.sort((a, b) => b.used - a.used)) {
      bytes += entry.bytes
      if (++count > this.#limits.entries || bytes > this.#limits.bytes) await this.#remove(entry.name)
    }
  }

  async #measure(name: string): Promise<{ name: string; bytes: number; used: number }> {
    const folder = join(this.#folder, name)
    const [used, bytes] = await Promise.all([
      stat(folder).then(({ mtimeMs }) => mtimeMs),
      stat(join(folder, DOCUMENT)).then(({ size }) => size),
    ]).catch(() => [0, 0])
    return { name, bytes, used }
  }

  #remove(name: string): Promise<void> {
    return rm(join(this.#folder, name), { recursive: true, force: true })
  }
}
