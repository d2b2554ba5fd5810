import type { Transaction } from '../../sql.ts'

/**
 * Adds what calls of models took: by round, over all of its restarts, and by user and day (UTC), calls outside of a
 * round included. `cost_usd` is that of the calls whose price is known, `unpriced_calls` counts the others.
 */
export async function addModelSpend(tx: Transaction): Promise<void> {
  await tx`
    CREATE TABLE round_spend (
      round_id integer PRIMARY KEY REFERENCES rounds ON DELETE CASCADE,
      input_tokens bigint NOT NULL,
      -- Part of input_tokens.
      cached_tokens bigint NOT NULL,
      output_tokens bigint NOT NULL,
      cost_usd double precision NOT NULL,
      unpriced_calls integer NOT NULL
    );
    CREATE TABLE user_spend (
      day date NOT NULL,
      user_id integer NOT NULL REFERENCES users,
      input_tokens bigint NOT NULL,
      cached_tokens bigint NOT NULL,
      output_tokens bigint NOT NULL,
      cost_usd double precision NOT NULL,
      unpriced_calls integer NOT NULL,
      PRIMARY KEY (day, user_id)
    );
    CREATE INDEX user_spend_user_id ON user_spend (user_id);
  `.simple()
}
