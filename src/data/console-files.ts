import type { Sql } from './db/types.ts'

/** One file of the built console in every form that was stored beside it. */
export interface ConsoleFile {
  content_type: string
  identity: Uint8Array<ArrayBuffer>
  br?: Uint8Array<ArrayBuffer>
  gzip?: Uint8Array<ArrayBuffer>
}

/** By path below `/console/`: `index.html`, `assets/main-1A2B3C4D.js`. */
export type ConsoleFiles = ReadonlyMap<string, ConsoleFile>

/** Whether a path has the form in which the build names files by their content. */
export const isHashedPath = (path: string): boolean =>
  /^assets\/[\w-]{1,60}-(?:[0-9A-Z]{8}|[0-9a-z]{8})\.(?:css|js|svg)$/.test(path)

/** How long a file is kept that no core has in its build any more. */
const KEPT_DAYS = 30

/**
 * Stores the files of this build that are named by their content, so that cores of later builds can answer them, and
 * removes those that no core has had for 30 days. Files that are stored already are marked as seen.
 * @returns how many files were new, and how many were removed
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

/** A file of any build that is kept; null when there is none. The path has to be hashed: see `isHashedPath`. */
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
