import type { Sql } from '../src/data/db/sql.ts'

/** Share of the sessions that belong to the owner whose own list is measured. */
const OWNER_SHARE = 0.05

/**
 * Replaces all sessions by those of many users, as after months of use: the newest in flight, texts of some sentences,
 * a few hundred repositories.
 * @returns the id of the owner with the most sessions
 */
export async function seedSessions(sql: Sql, sessions: number): Promise<number> {
  await sql`TRUNCATE users, sessions, session_search, searched_repositories RESTART IDENTITY CASCADE`
  const users = Math.max(20, Math.round(sessions / 50))
  await sql`
    INSERT INTO users (issuer, subject, email, display_name)
    SELECT 'https://issuer.example.org', 'user-' || n,
           'person.' || n || '@' || (ARRAY['example.org', 'acme.example', 'corp.example'])[1 + n % 3],
           'Person ' || n
    FROM generate_series(1, ${users}) n`
  await sql`
    INSERT INTO sessions (user_id, operation, in_flight, round_count, last_status, created_at, updated_at,
                          is_blocked, provider, last_mode, repository_id)
    SELECT CASE WHEN random() < ${OWNER_SHARE} THEN 1 ELSE 1 + floor(random() * ${users})::int END,
           (ARRAY['generate', 'generate', 'generate', 'generate', 'generate', 'generate',
                   'drift', 'drift', 'drift', 'import']::operation[])[1 + n % 10],
           n > ${sessions} - 20, 1,
           CASE WHEN n > ${sessions} - 20 THEN 'generating'
                WHEN n % 9 = 0 THEN 'failed' WHEN n % 13 = 0 THEN 'uncompleted' ELSE 'completed' END::session_status,
           now() - (${sessions} - n) * interval '3 minutes',
           -- Some were taken up again later.
           now() - (${sessions} - n) * interval '3 minutes' * CASE WHEN n % 20 = 0 THEN random() ELSE 1 END,
           n % 211 = 0,
           (CASE WHEN n % 5000 = 0 THEN 'oci' WHEN n % 5 = 0 THEN 'azure' WHEN n % 7 = 0 THEN 'gcp'
                 WHEN n % 11 = 0 THEN 'kubernetes' ELSE 'aws' END)::cloud,
           (ARRAY['generate', 'generate', 'apply', 'apply', 'generate', 'generate',
                   'drift', 'drift', 'apply', 'import']::round_mode[])[1 + n % 10],
           md5('https://github.com/acme/infrastructure-' || n % 300)::uuid
    FROM generate_series(1, ${sessions}) n`
  await sql`
    INSERT INTO histories (session_id, first_query)
    SELECT id, (ARRAY['Create', 'Add', 'Change', 'Remove', 'Import', 'Harden'])[1 + id % 6] || ' a private ' ||
           (ARRAY['storage bucket', 'virtual network', 'message queue', 'database',
                   'key vault', 'load balancer', 'cluster'])[1 + id % 7] ||
           ' for service ' || substr(md5(id::text), 1, 10)
           || ' in region ' || (ARRAY['eu-west-1', 'us-east-2', 'ap-south-1'])[1 + id % 3] ||
           '. Keep names short, encrypt data at rest, and tag everything with the cost centre ' || id % 97 || '.'
    FROM sessions`
  await sql`
    INSERT INTO workspaces (session_id, uri, branch, root_path)
    SELECT id, 'https://github.com/acme/infrastructure-' || id % 300,
           'Platform/2026-01-31_235959-' || substr(md5(id::text), 1, 4), 'live/network'
    FROM sessions`
  await sql`
    INSERT INTO engine_providers (session_id, provider, scope_id)
    SELECT id, provider, 'acme-production' FROM sessions`
  await sql`VACUUM (ANALYZE)`
  return 1
}
