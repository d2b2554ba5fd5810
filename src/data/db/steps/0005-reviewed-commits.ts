import type { Transaction } from '../types.ts'

/**
 * Adds the commit of the session branch with which the last completed round ended: only that commit may be merged.
 * It is empty until a round of the session has completed, and null where it is not known, because the session is older
 * than this column.
 */
export async function addReviewedCommits(tx: Transaction): Promise<void> {
  await tx`
    ALTER TABLE sessions ADD COLUMN reviewed_commit varchar(64);
    ALTER TABLE sessions ALTER COLUMN reviewed_commit SET DEFAULT '';
  `.simple()
}
