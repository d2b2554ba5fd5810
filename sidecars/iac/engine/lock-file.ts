import { constants } from 'node:fs'
import { mkdir, open, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { replaceFile } from '../../../src/runtime/files.ts'
import { readPlain } from '../limits/workspace.ts'

const NAME = '.terraform.lock.hcl'
const MAX_BYTES = 1024 * 1024
/** An entry as the engine writes it. */
const ENTRY = /^provider "([a-z0-9._:/-]+)" \{\n((?: {2}.*\n|\n)*)\}$/gim
const VERSION = /^ {2}version\s*= "([a-z0-9._+-]+)"$/im
const HASHES = /^ {2}hashes = \[\n((?: {4}"[^"\n]+",\n)*) {2}\]$/m
const HASH = /^(?:h1:[A-Za-z0-9+/]{43}=|zh:[0-9a-f]{64})$/

/** Reads the lock file of a workspace; empty for none, and for one that is no plain file of a likely size. */
export const readLockFile = async (workspace: string): Promise<string> =>
  (await readPlain(join(workspace, NAME), MAX_BYTES).catch(() => null))?.toString('utf8') ?? ''

interface Entry {
  source: string
  version: string
  hashes: string[]
}

const entriesIn = (text: string): Entry[] =>
  [...text.matchAll(ENTRY)].flatMap(([, source = '', body = '']) => {
    const version = VERSION.exec(body)?.[1]
    const hashes = [...(HASHES.exec(body)?.[1] ?? '').matchAll(/"([^"]+)"/g)].map(([, hash = '']) => hash)
    return version === undefined || !hashes.every((hash) => HASH.test(hash)) ? [] : [{ source, version, hashes }]
  })

/** The checksums that the engine wrote when it downloaded a provider: those of other platforms are known only then. */
export function createChecksums(cache: string) {
  const folder = join(cache, '.checksums')
  const fileOf = ({ source, version }: Omit<Entry, 'hashes'>) =>
    join(folder, encodeURIComponent(`${source}/${version}`).toLowerCase())
  const known = async (entry: Entry): Promise<string[]> =>
    (await readFile(fileOf(entry), 'utf8').catch(() => '')).split('\n').filter((line) => HASH.test(line))
  return {
    /** Remembers the entries of the providers that an init has downloaded into the cache. */
    remember: async (workspace: string, downloaded: readonly Omit<Entry, 'hashes'>[]): Promise<void> => {
      const isDownloaded = (entry: Entry) =>
        downloaded.some(({ source, version }) => source === entry.source && version === entry.version)
      for (const entry of entriesIn(await readLockFile(workspace)).filter(isDownloaded)) {
        await mkdir(folder, { recursive: true })
        await replaceFile(fileOf(entry), `${entry.hashes.join('\n')}\n`)
      }
    },
    /**
     * Completes the entries that an init has added for providers of the cache, whose checksum of this platform alone it
     * knows, by those of their download.
     * @param before the lock file before the init
     */
    complete: async (workspace: string, before: string): Promise<void> => {
      const text = await readLockFile(workspace)
      if (text === before) return
      const old = new Set(entriesIn(before).map(({ source, version }) => `${source} ${version}`))
      let completed = text
      for (const entry of entriesIn(text)) {
        const more = old.has(`${entry.source} ${entry.version}`) ? [] : await known(entry)
        const isSame = more.length > entry.hashes.length && entry.hashes.every((hash) => more.includes(hash))
        if (isSame) completed = withHashes(completed, entry, more)
      }
      if (completed !== text) await overwrite(join(workspace, NAME), completed)
    },
  }
}

const withHashes = (text: string, { source, version }: Entry, hashes: readonly string[]): string =>
  text.replaceAll(ENTRY, (whole, name: string, body: string) =>
    name === source && VERSION.exec(body)?.[1] === version
      ? whole.replace(HASHES, `  hashes = [\n${hashes.map((hash) => `    "${hash}",\n`).join('')}  ]`)
      : whole,
  )

/** Writes into an existing file, never through a link. */
async function overwrite(path: string, text: string): Promise<void> {
  const file = await open(path, constants.O_WRONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  try {
    if (!(await file.stat()).isFile()) return
    await file.truncate()
    await file.writeFile(text)
  } finally {
    await file.close()
  }
}
