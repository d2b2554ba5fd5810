import type { Transaction } from '../types.ts'

/**
 * Creates the record of what each attempt of a round's generation loops came to. Rounds from before this step have
 * none. What is null is not known before the attempt has ended, and never of one whose worker died.
 */
export async function createRoundAttempts(tx: Transaction): Promise<void> {
  await tx`
    CREATE TABLE round_attempts (
      round_id integer NOT NULL REFERENCES rounds ON DELETE CASCADE,
      -- Counted over all loops and restarts of the round.
      number integer NOT NULL,
      restart integer NOT NULL,
      task text NOT NULL,
      -- Why it began, after the one before it.
      reason text,
      started_at timestamptz NOT NULL DEFAULT clock_timestamp(),
      ended_at timestamptz,
      outcome text,
      commit text,
      steps jsonb NOT NULL DEFAULT '[]',
      -- The first findings, of so many.
      diagnostics jsonb NOT NULL DEFAULT '[]',
      diagnostics_total integer NOT NULL DEFAULT 0,
      input_tokens bigint,
      cached_tokens bigint,
      output_tokens bigint,
      cost_usd double precision,
      PRIMARY KEY (round_id, number)
    )`.simple()
}
