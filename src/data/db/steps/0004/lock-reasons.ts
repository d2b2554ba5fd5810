import type { Transaction } from '../../sql.ts'

/**
 * Adds since when and why a session is locked, and what that was before the decision of a round. Sessions that were
 * locked before have neither.
 */
export async function addLockReasons(tx: Transaction): Promise<void> {
  await tx`ALTER TABLE sessions ADD COLUMN lock jsonb`
  await tx`ALTER TABLE rounds ADD COLUMN lock_was jsonb`
}
