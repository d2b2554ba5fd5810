import type { Sql } from './types.ts'

/** The keys of the advisory locks that processes of the platform take on a database. Any constants would do. */
export const LOCKS = { migrate: 0x706c_6174, seed_prompts: 0x706c_6175 } as const

/**
 * Does the work while no other process does any under the same lock; others wait. The lock belongs to a connection, so
 * that it is free again when the process that holds it dies.
 * Errors: those of the work and of the database.
 */
export async function exclusively<T>(sql: Sql, lock: keyof typeof LOCKS, work: () => Promise<T>): Promise<T> {
  return sql.begin(async (tx) => {
    // The connection does nothing while the work is done elsewhere, which a server may be told to end.
    await tx`SET LOCAL idle_in_transaction_session_timeout = 0`
    await tx`SELECT pg_advisory_xact_lock(${LOCKS[lock]})`
    return work()
  })
}
