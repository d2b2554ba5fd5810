import type { Sql } from './types.ts'

/** The keys of the advisory locks that processes of the platform take on a database. Any constants would do. */
export const LOCKS = { migrate: 0x706c_6174, seed_prompts: 0x706c_6175 } as const

const WAIT = '120s'

/**
 * Does the work while no other process does any under the same lock; others wait, two minutes at
 * most. The lock belongs to a connection, so that it is free again when the process that holds it dies.
 * Errors: those of the work and of the database, among them the one of a wait that was too long.
 */
export async function exclusively<T>(sql: Sql, lock: keyof typeof LOCKS, work: () => Promise<T>): Promise<T> {
  return sql.begin(async (tx) => {
    // The connection waits, and does nothing while the work is done elsewhere, which a server may be told to end.
    await tx`SELECT set_config('idle_in_transaction_session_timeout', '0', true),
                    set_config('statement_timeout', '0', true), set_config('lock_timeout', ${WAIT}, true)`
    await tx`SELECT pg_advisory_xact_lock(${LOCKS[lock]})`
    return work()
  })
}
