import type { Transaction } from '../../sql.ts'

/** Adds what a request chose for a state that exists elsewhere, and the choice that a session keeps. */
export async function addStateChoice(tx: Transaction): Promise<void> {
  await tx`ALTER TABLE rounds ADD COLUMN state_choice text`
  await tx`ALTER TABLE sessions ADD COLUMN state_choice text`
}
