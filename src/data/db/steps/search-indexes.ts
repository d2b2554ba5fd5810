import type { Transaction } from '../types.ts'

/**
 * Creates the indexes for substring search unless they exist. They need the extension `pg_trgm`, which not every
 * database offers. Without it this does nothing, and a search reads the whole table.
 */
export async function createSearchIndexes(tx: Transaction): Promise<void> {
  const [index] = await tx<{ last: string | null }[]>`SELECT to_regclass('session_search_content_trgm')::text AS last`
  if (index?.last) return
  await tx
    .savepoint(async (inner) => {
      await inner`CREATE EXTENSION IF NOT EXISTS pg_trgm`
      await inner`CREATE INDEX IF NOT EXISTS users_email_trgm ON users USING gin (email gin_trgm_ops)`
      await inner`CREATE INDEX session_search_content_trgm ON session_search USING gin (content gin_trgm_ops)`
    })
    .catch(() => {})
}
