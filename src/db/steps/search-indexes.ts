import type { Transaction } from '../types.ts'

/**
 * Indexes for substring search. They need an extension that not every database offers; without it
 * the search reads the tables.
 */
export async function createSearchIndexes(tx: Transaction): Promise<void> {
  const [found] = await tx<{ last: string | null }[]>`SELECT to_regclass('users_email_trgm')::text AS last`
  if (found?.last) return
  await tx
    .savepoint(async (inner) => {
      await inner`CREATE EXTENSION IF NOT EXISTS pg_trgm`
      await inner`CREATE INDEX histories_first_query_trgm ON histories USING gin (first_query gin_trgm_ops)`
      await inner`CREATE INDEX workspaces_uri_trgm ON workspaces USING gin (uri gin_trgm_ops)`
      await inner`CREATE INDEX sessions_uuid_trgm ON sessions USING gin ((uuid::text) gin_trgm_ops)`
      await inner`CREATE INDEX users_email_trgm ON users USING gin (email gin_trgm_ops)`
    })
    .catch(() => {})
}
