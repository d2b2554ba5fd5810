import type { Transaction } from '../types.ts'

/** Adds the wish that a round ends: since when, and who has it. The first wish of a round stays. */
export async function addCancellations(tx: Transaction): Promise<void> {
  await tx`
    ALTER TABLE rounds ADD COLUMN cancel_requested_at timestamptz;
    ALTER TABLE rounds ADD COLUMN cancelled_by text;
  `.simple()
}
