import type { Sql, Transaction } from './sql.ts'
import { createSchema } from './steps/0001/schema.ts'
import { addAuditSubject } from './steps/0002/audit-subject.ts'
import { addStateChoice } from './steps/0003/state-choice.ts'
import { addLockReasons } from './steps/0004/lock-reasons.ts'
import { addSessionBase } from './steps/0005/session-base.ts'
import { addModelSpend } from './steps/0006/model-spend.ts'
import { addRoundQueue } from './steps/0007/round-queue.ts'

/**
 * The steps in order. A released step never changes: a change is a new step, with a dump in `test/data/db/releases`.
 */
const STEPS = [
  { number: 1, name: 'first release', run: createSchema },
  { number: 2, name: 'subject in the audit', run: addAuditSubject },
  { number: 3, name: 'state that exists elsewhere', run: addStateChoice },
  { number: 4, name: 'reasons of a lock', run: addLockReasons },
  { number: 5, name: 'base of a session', run: addSessionBase },
  { number: 6, name: 'spend of models', run: addModelSpend },
  { number: 7, name: 'queue of rounds', run: addRoundQueue },
]

/**
 * Migrates the schema to the latest version. All missing steps run in one transaction under one lock: of several
 * processes that start together only one runs them, and after a failure the schema is unchanged. Throws when the
 * database has tables of a development version, which no step upgrades.
 */
export async function migrate(sql: Sql): Promise<void> {
  await sql.beginDirect(async (tx) => {
    await tx`SELECT pg_advisory_xact_lock(${LOCKS.migrate})`
    await tx`CREATE TABLE IF NOT EXISTS schema_steps (
      number integer PRIMARY KEY, name text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now())`
    const applied = await tx<{ number: number; name: string }[]>`SELECT number, name FROM schema_steps`
    const done = new Map(applied.map(({ number, name }) => [number, name]))
    for (const { number, name, run } of STEPS) {
      const earlier = done.get(number)
      if (earlier !== undefined && earlier !== name) throw new Error(DEVELOPMENT_VERSION)
      if (earlier !== undefined) continue
      await run(tx)
      await tx`INSERT INTO schema_steps (number, name) VALUES (${number}, ${name})`
    }
    await createSearchIndexes(tx)
  })
}

const DEVELOPMENT_VERSION =
  'the database was made by a development version from before the first release, which cannot be upgraded. Nothing ' +
  'was changed. Use a new, empty database; for npm start, stop it and delete its data folder, or name another one ' +
  'with --data. See docs/operations.md, section Upgrades.'

/** Creates the missing indexes for substring search. Without the extension `pg_trgm`, searches read the whole table. */
async function createSearchIndexes(tx: Transaction): Promise<void> {
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

/** The keys of the platform's advisory locks on a database. They are arbitrary constants. */
export const LOCKS = { migrate: 0x706c_6174, seed_prompts: 0x706c_6175 } as const

const WAIT = '120s'

/**
 * Runs the work while holding the lock; other processes wait, at most two minutes. The lock belongs to a connection, so
 * it is released when the process dies. Throws the errors of the work and of the database, including that of too long a
 * wait.
 */
export async function exclusively<T>(sql: Sql, lock: keyof typeof LOCKS, work: () => Promise<T>): Promise<T> {
  return sql.beginDirect(async (tx) => {
    // The connection is idle while the work runs elsewhere, and a server may be set to end idle transactions.
    await tx`SELECT set_config('idle_in_transaction_session_timeout', '0', true),
                    set_config('statement_timeout', '0', true), set_config('lock_timeout', ${WAIT}, true)`
    await tx`SELECT pg_advisory_xact_lock(${LOCKS[lock]})`
    return work()
  })
}
