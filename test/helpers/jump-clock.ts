import type { Sql } from '../../src/data/db/sql.ts'

/**
 * Has all times that a database has stored lie as they would after its clock jumped by so many hours; negative is back.
 * Triggers do not run. Nothing else may write meanwhile, since that would be stored with a time from after the jump.
 */
export async function jumpClock(sql: Sql, hours: number): Promise<void> {
  await sql.begin(async (tx) => {
    await tx`SET LOCAL session_replication_role = replica`
    const columns = await tx<{ name: string; updates: string }[]>`
      SELECT format('%I.%I', n.nspname, c.relname) AS name, string_agg(format('%1$I = %1$I - make_interval(hours => ' || ${hours}::integer || ')', a.attname), ', ') AS updates
      FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid JOIN pg_namespace n ON n.oid = c.relnamespace
      WHERE n.nspname = 'public' AND c.relkind IN ('r', 'p') AND NOT c.relispartition
        AND a.atttypid = 'timestamptz'::regtype AND a.attnum > 0 AND a.attgenerated = ''
      GROUP BY 1`
    for (const { name, updates } of columns) await tx.unsafe(`UPDATE ${name} SET ${updates}`)
  })
}
