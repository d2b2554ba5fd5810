import { randomUUID } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { mkdir, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseJson } from '../../../src/base/json.ts'

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

/** The position of a part of the document, in bytes. */
export type Extent = [offset: number, length: number]

export interface ProviderIndex {
  resource_schemas: Record<string, Extent>
  data_source_schemas: Record<string, Extent>
  /** Absent for a provider that has none. */
  ephemeral_resource_schemas?: Record<string, Extent>
}

/** The positions of all schemas in the document of `providers schema -json`. */
interface SchemaIndex {
  format_version: string
  /** The providers by source address, for example `registry.opentofu.org/hashicorp/aws`. */
  providers: Record<string, ProviderIndex>
}

const SECTIONS = ['resource_schemas', 'data_source_schemas', 'ephemeral_resource_schemas'] as const
/** Number of levels whose keys matter: document, providers, one provider, section. Deeper ones are skipped. */
const KEYS = 4
const [QUOTE, BACKSLASH, COLON, OPEN, CLOSE, OPEN_LIST, CLOSE_LIST] = [...'"\\:{}[]'].map((sign) => sign.charCodeAt(0))

/** Finds the schemas in a document of tens of megabytes, read in pieces; null for another document. */
export async function indexDocument(path: string): Promise<SchemaIndex | null> {
  const scan = new Scan()
  for await (const chunk of createReadStream(path, { highWaterMark: 256 * 1024 })) if (!scan.feed(chunk)) return null
  return scan.result()
}

class Scan {
  readonly #index: SchemaIndex = { format_version: '', providers: {} }
  /** The key of the current member on each level. */
  readonly #path: string[] = []
  #position = 0
  #depth = 0
  #isInString = false
  #escaped = false
  /** The bytes of a string on a level whose keys matter; null on deeper levels. */
  #string: number[] | null = null
  #last = ''
  #start = 0
  #ended = false

  /** Parses a piece; returns false when the document is broken. */
  feed(chunk: Buffer): boolean {
    for (const byte of chunk) {
      if (this.#isInString) {
        if (!this.#readStringByte(byte)) return false
      } else if (!this.#ended && !this.#readStructureByte(byte)) return false
      this.#position++
    }
    return true
  }

  result(): SchemaIndex | null {
    return this.#ended && this.#index.format_version !== '' ? this.#index : null
  }

  #readStringByte(byte: number): boolean {
    if (this.#escaped) this.#escaped = false
    else if (byte === BACKSLASH) this.#escaped = true
    else if (byte === QUOTE) return this.#endString()
    if (this.#string && this.#string.push(byte) > 1024) return false
    return true
  }

  #endString(): boolean {
    this.#isInString = false
    if (!this.#string) return true
    const text = parseJson(`"${Buffer.from(this.#string).toString('utf8')}"`)
    if (typeof text !== 'string') return false
    this.#last = text
    if (this.#depth === 1 && this.#path[1] === 'format_version' && this.#index.format_version === '')
      this.#index.format_version = this.#last
    return true
  }

  #readStructureByte(byte: number): boolean {
    if (byte === OPEN || (byte === OPEN_LIST && this.#depth > 0)) this.#open()
    else if (this.#depth === 0) return true
    else if (byte === QUOTE) this.#beginString()
    else if (byte === COLON) this.#path[this.#depth] = this.#last
    else if (byte === CLOSE || byte === CLOSE_LIST) this.#close()
    return true
  }

  #beginString(): void {
    this.#isInString = true
    this.#string = this.#depth <= KEYS ? [] : null
  }

  #open(): void {
    if (this.#depth === KEYS) this.#start = this.#position
    this.#depth++
  }

  #close(): void {
    this.#depth--
    this.#ended = this.#depth === 0
    const [, document, source = '', member, type = ''] = this.#path
    const section = SECTIONS.find((name) => name === member)
    if (this.#depth !== KEYS || document !== 'provider_schemas' || !section) return
    this.#index.providers[source] ??= { resource_schemas: {}, data_source_schemas: {} }
    const provider = this.#index.providers[source]
    provider[section] ??= {}
    provider[section][type] = [this.#start, this.#position + 1 - this.#start]
  }
}
