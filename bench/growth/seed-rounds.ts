import type { Sql } from '../../src/data/db/sql.ts'

/**
 * Adds a round to each of the newest sessions, at most so many, with the rows that a generate round with one repair writes: the numbers and sizes are
 * those that the demo leaves. What watchers see (`round_events`) is not seeded, because it stays for 30 days only.
 */
export async function seedRounds(sql: Sql, most: number): Promise<void> {
  await sql.begin(async (tx) => {
    // Rows that are known to fit need no check of a reference each, and their sessions have been counted.
    await tx`SET LOCAL session_replication_role = replica`
    await tx`CREATE TEMPORARY TABLE seeded ON COMMIT DROP AS SELECT * FROM sessions ORDER BY id DESC LIMIT ${most}`
    for (const statement of STATEMENTS) await tx.unsafe(statement)
    for (const table of TABLES)
      await tx.unsafe(`SELECT setval(pg_get_serial_sequence('${table}', 'id'), (SELECT max(id) FROM ${table}))`)
  })
  await sql`VACUUM (ANALYZE)`
}

/** Text that does not compress to nothing, of so many characters (a multiple of 32). */
const text = (characters: number, of = 's.id') =>
  `(SELECT string_agg(md5(${of}::text || '-' || k), '') FROM generate_series(1, ${characters / 32}) k)`

const KEY = `'sessions/' || s.uuid || '/rounds/' || s.id`
/** Kinds of artifacts of a round: table, how many, own columns and their values. A plan has a second object. */
const KINDS = [
  ['engine_plans', 2, 'targets', `ARRAY['aws_sqs_queue.orders', 'aws_sqs_queue.orders_dead']`],
  ['reports', 1, 'type', `'generate'`],
  ['compliance_checks', 1, 'passed', 'true'],
  ['code_changes', 2, 'file_name', `'queue-' || a || '.tf'`],
  ['engine_outputs', 5, 'step, exit_code', `'validate', 0`],
] as const
const ARTIFACTS = KINDS.reduce((sum, [, count]) => sum + count, 0) + 2

/** The artifacts of session n have the numbers from (n - 1) · ARTIFACTS + 1. */
const STATEMENTS = [
  `UPDATE histories h SET payload = jsonb_build_array(jsonb_build_object('role', 'user', 'content', h.first_query),
     jsonb_build_object('role', 'assistant', 'content', ${text(320, 'h.session_id')}))`,
  `INSERT INTO rounds (id, session_id, number, query, mode, attempts, jobs, usage, result, finished_at, created_at)
   SELECT s.id, s.id, 1, h.first_query, 'generate', 1, '{}',
          '{"engine_s": 2.1, "model_s": 31.4, "input_tokens": 61755, "cached_tokens": 21000, "output_tokens": 2400,
            "cost_usd": 0.21, "validation_attempts": 2}',
          jsonb_build_object('what', ${text(640)}, 'files', ${text(480)}),
          CASE WHEN s.in_flight THEN NULL ELSE s.updated_at END, s.created_at
   FROM seeded s JOIN histories h ON h.session_id = s.id`,
  `INSERT INTO statuses (session_id, round_id, status, message, created_at, updated_at)
   SELECT s.id, s.id, s.last_status, left(md5(s.id::text || k), 24), s.created_at + k * interval '5 seconds', s.created_at
   FROM seeded s, generate_series(1, 10) k`,
  `INSERT INTO round_attempts (round_id, number, restart, task, reason, started_at, ended_at, outcome, commit, steps,
     input_tokens, cached_tokens, output_tokens, cost_usd)
   SELECT s.id, k, 1, 'generate', NULL, s.created_at, s.created_at, 'passed', left(md5(s.id::text), 40),
          jsonb_build_array(${text(640)}), 30000, 10000, 1200, 0.1
   FROM seeded s, generate_series(1, 2) k`,
  `INSERT INTO round_spend SELECT id, 61755, 21000, 2400, 0.21, 0 FROM seeded`,
  `INSERT INTO saved_plans (round_id, session_id, plan_sha256, workspace_sha256, commit, targets, changes, engine, state,
     project_id, archive_key, saved_at)
   SELECT s.id, s.id, md5(s.id::text) || md5(s.id::text), md5('w' || s.id) || md5('v' || s.id), left(md5(s.id::text), 40),
          ARRAY['aws_sqs_queue.orders'], jsonb_build_object('aws_sqs_queue.orders', ${text(256)}),
          '{"name": "terraform", "version": "1.11.4"}', '{"serial": 3, "lineage": "5d1f"}', 'acme-production',
          'sessions/' || s.uuid || '/saved-plans/' || s.id || '-0a1b2c3d.plan', s.created_at
   FROM seeded s`,
  `INSERT INTO pull_requests (round_id, provider, number, url, created_at)
   SELECT s.id, 'GITHUB', s.id, 'https://github.com/acme/infrastructure-' || s.id % 300 || '/pull/' || s.id, s.created_at
   FROM seeded s`,
  `INSERT INTO artifacts (id, uri, content_type, file_size_bytes, created_at)
   SELECT (s.id - 1) * ${ARTIFACTS} + a, ${KEY} || '/outputs/validate-' || left(md5(a::text), 8) || '.txt', 'text/plain', 4096,
          s.created_at
   FROM seeded s, generate_series(1, ${ARTIFACTS}) a`,
  ...KINDS.map(([table, count, columns, values], place) => {
    const before = KINDS.slice(0, place).reduce((sum, [, earlier]) => sum + earlier, 0)
    const document = table === 'engine_plans' ? ['document_artifact_id, ', `s.id * ${ARTIFACTS} - 2 + a, `] : ['', '']
    return `INSERT INTO ${table} (round_id, artifact_id, ${document[0]}${columns}, created_at)
      SELECT s.id, (s.id - 1) * ${ARTIFACTS} + ${before} + a, ${document[1]}${values}, s.created_at
      FROM seeded s, generate_series(1, ${count}) a`
  }),
  `INSERT INTO audit_records (at, action, user_id, actor, session_uuid, detail)
   SELECT s.created_at, 'round_accepted', s.user_id, 'person@example.org', s.uuid,
          '{"mode": "generate", "round": 1, "is_partial": false, "repository": "https://github.com/acme/infrastructure-17"}'
   FROM seeded s, generate_series(1, 3)`,
]
const TABLES = ['rounds', 'artifacts'] as const
