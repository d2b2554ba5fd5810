import type { Sql } from '../data/db/types.ts'

/** Tokens, input and output, of all finished rounds of a session. */
export async function sessionTokens(sql: Sql, session_id: number): Promise<number> {
  const [row] = await sql<{ tokens: number }[]>`
    SELECT coalesce(sum(coalesce((usage->>'input_tokens')::float8, 0) + coalesce((usage->>'output_tokens')::float8, 0)), 0)::float8 AS tokens
    FROM rounds WHERE session_id = ${session_id}`
  return row?.tokens ?? 0
}
