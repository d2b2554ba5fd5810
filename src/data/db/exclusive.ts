import type { Sql } from './sql.ts'

/** The keys of the platform's advisory locks on a database. They are arbitrary constants. */
export const LOCKS = { migrate: 0x706c_6174, seed_prompts: 0x706c_6175 } as const

const WAIT = '120s'

/**
 * Runs the work while holding the lock; other processes wait, at most two minutes. The lock belongs to a connection, so
 * it is released when the process dies. Throws the errors of the work and of the database, including that of too long a
 * wait.
 */
export async function exclusively<T>(sql: Sql, lock: keyof typeof LOCKS, work: () => Promise<T>): Promise<T> {
  return sql.begin(async (tx) => {
    // The connection is idle while the work runs elsewhere, and a server may be set to end idle transactions.
    await tx`SELECT set_config('idle_in_transaction_session_timeout', '0', true),
                    set_config('statement_timeout', '0', true), set_config('lock_timeout', ${WAIT}, true)`
    await tx`SELECT pg_advisory_xact_lock(${LOCKS[lock]})`
    return work()
  })
}
