import type { Transaction } from '../types.ts'

/** Creates the record of what each attempt of a round's generation loops came to. */
export async function createRoundAttempts(tx: Transaction): Promise<void> {
  await tx`
    CREATE TABLE round_attempts (
      round_id integer NOT NULL REFERENCES rounds,
      number integer NOT NULL,
      started_at timestamptz NOT NULL,
      ended_at timestamptz,
      -- What is published of the attempt beside number and times.
      detail jsonb NOT NULL DEFAULT '{}',
      PRIMARY KEY (round_id, number)
    )`.simple()
}
