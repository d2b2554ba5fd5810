import type { Transaction } from '../types.ts'

/** Adds the wish that a round ends, and what a round has to know when it ends because of one. */
export async function addCancellations(tx: Transaction): Promise<void> {
  await tx`
    -- Since when somebody wants the round to end, and who. The first wish of a round stays.
    ALTER TABLE rounds ADD COLUMN cancel_requested_at timestamptz;
    ALTER TABLE rounds ADD COLUMN cancelled_by text;
    -- Since when the present attempt saves its plan. From then on the round ends by itself and takes no wish.
    ALTER TABLE rounds ADD COLUMN saving_at timestamptz;
    -- The session's lock before the round decided on it, so that a cancelled round leaves it as it was.
    ALTER TABLE rounds ADD COLUMN lock_before boolean;
    -- The last commit that the round pushed. After a cancelled round nobody has reviewed it.
    ALTER TABLE rounds ADD COLUMN pushed_commit text;
  `.simple()
}
