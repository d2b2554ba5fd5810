import type { Db } from '../data/db/types.ts'

/** E-mails of all users with panel role editor or higher, oldest user first. */
export async function staffEmails(sql: Db): Promise<string[]> {
  const rows = await sql<{ email: string }[]>`
    SELECT email FROM users WHERE panel_role >= 'editor' AND email <> '' ORDER BY id`
  return rows.map((row) => row.email)
}
