import type { Sql } from './db/sql.ts'

/** One file of the built console with all its stored encodings. */
export interface ConsoleFile {
  content_type: string
  identity: Uint8Array<ArrayBuffer>
  br?: Uint8Array<ArrayBuffer>
  gzip?: Uint8Array<ArrayBuffer>
}

/** By path below `/console/`: `index.html`, `assets/main-1A2B3C4D.js`. */
export type ConsoleFiles = ReadonlyMap<string, ConsoleFile>

/** True if the build named the path after a hash of its content. */
export const isHashedPath = (path: string): boolean =>
  /^assets\/[\w-]{1,60}-(?:[0-9A-Z]{8}|[0-9a-z]{8})\.(?:css|js|svg)$/.test(path)

/** Days for which a file is kept after it left every core's build. */
const KEPT_DAYS = 30

/**
 * Stores this build's hashed files, so that cores of later builds can serve them, and removes those that no core has
 * had for 30 days. Files that are already stored are marked as seen.
 * @returns the numbers of new and removed files
 */
export async function keepConsoleFiles(sql: Sql, files: ConsoleFiles): Promise<{ added: number; removed: number }> {
  const paths = [...files.keys()].filter(isHashedPath)
  const seen = await sql<{ path: string }[]>`
    UPDATE console_files SET seen_at = clock_timestamp() WHERE path = ANY(${paths}) RETURNING path`
  const known = new Set(seen.map(({ path }) => path))
  let added = 0
  for (const path of paths) {
    const file = files.get(path)
    if (!file || known.has(path)) continue
    const { content_type, identity, br = null, gzip = null } = file
    const { count } = await sql`
      INSERT INTO console_files (path, content_type, identity, br, gzip)
      VALUES (${path}, ${content_type}, ${identity}, ${br}, ${gzip})
      ON CONFLICT (path) DO UPDATE SET seen_at = clock_timestamp()`
    added += count
  }
  const { count: removed } = await sql`
    DELETE FROM console_files WHERE seen_at < clock_timestamp() - make_interval(days => ${KEPT_DAYS})`
  return { added, removed }
}

/** Reads a stored file of any build; null when there is none. The path must be hashed: see `isHashedPath`. */
export async function readKeptFile(sql: Sql, path: string): Promise<ConsoleFile | null> {
  type Row = { content_type: string; identity: Uint8Array; br: Uint8Array | null; gzip: Uint8Array | null }
  const [row] = await sql<Row[]>`
    SELECT content_type, identity, br, gzip FROM console_files WHERE path = ${path}`
  if (!row) return null
  const file: ConsoleFile = { content_type: row.content_type, identity: new Uint8Array(row.identity) }
  if (row.br) file.br = new Uint8Array(row.br)
  if (row.gzip) file.gzip = new Uint8Array(row.gzip)
  return file
}
