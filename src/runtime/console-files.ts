import { readdir, readFile } from 'node:fs/promises'
import { extname, join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Logger } from '../base/log.ts'
import { type ConsoleFile, type ConsoleFiles, keepConsoleFiles } from '../data/console-files.ts'
import type { Sql } from '../data/db/sql.ts'

const TYPES: Record<string, string> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
}
const ENCODINGS = { br: '.br', gzip: '.gz' } as const
const DIST = fileURLToPath(new URL('../../console/dist', import.meta.url))

/** Reads the built console into memory; null when it was not built. Throws when a file cannot be read. */
export async function readConsoleFiles(folder = DIST): Promise<ConsoleFiles | null> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch((error) => {
    if (error.code === 'ENOENT') return null
    throw error
  })
  if (entries === null) return null
  const files = new Map<string, ConsoleFile>()
  for (const entry of entries) {
    const content_type = TYPES[extname(entry.name)]
    if (!entry.isFile() || content_type === undefined) continue
    const path = join(entry.parentPath, entry.name)
    const file: ConsoleFile = { content_type, identity: await read(path) }
    for (const [name, suffix] of Object.entries(ENCODINGS))
      file[name as 'br'] = await read(path + suffix).catch(() => undefined)
    files.set(relative(folder, path).split(sep).join('/'), file)
  }
  return files.has('index.html') ? files : null
}

const read = async (path: string): Promise<Uint8Array<ArrayBuffer>> => new Uint8Array(await readFile(path))

const DAY_MS = 24 * 60 * 60_000

/**
 * Stores the files of this build for the cores of later ones, now and once a day while this core runs. A failure is
 * logged and retried the next time.
 * @returns a function that stops it after the running write
 */
export function keepStoring(sql: Sql, log: Logger, files: ConsoleFiles): () => Promise<void> {
  const store = () =>
    keepConsoleFiles(sql, files).then(
      ({ added, removed }) => {
        if (added + removed > 0) log.info('files of the console stored for later builds', { added, removed })
      },
      (error: unknown) => log.warn('the files of the console could not be stored for later builds', { error }),
    )
  let last = store()
  const timer = setInterval(() => {
    last = store()
  }, DAY_MS)
  timer.unref()
  return () => {
    clearInterval(timer)
    return last
  }
}
