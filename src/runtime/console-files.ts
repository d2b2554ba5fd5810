import { readdir, readFile } from 'node:fs/promises'
import { extname, join, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { ConsoleFile, ConsoleFiles } from '../data/console-files.ts'

const TYPES: Record<string, string> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
}
const ENCODINGS = { br: '.br', gzip: '.gz' } as const
const DIST = fileURLToPath(new URL('../../console/dist', import.meta.url))

/**
 * Reads the built console into memory, once, at the start of the core. Null when it was not built.
 * Errors: a file cannot be read.
 */
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
    files.set(
      path
        .slice(folder.length + 1)
        .split(sep)
        .join('/'),
      file,
    )
  }
  return files.has('index.html') ? files : null
}

const read = async (path: string): Promise<Uint8Array<ArrayBuffer>> => new Uint8Array(await readFile(path))
