import type { Transaction } from '../types.ts'

/** What a round built, in the words of its generator. Rounds from before this step have none. */
export async function addRoundResults(tx: Transaction): Promise<void> {
  await tx`ALTER TABLE rounds ADD COLUMN result jsonb`
}
