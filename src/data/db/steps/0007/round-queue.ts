import type { Transaction } from '../../sql.ts'

/**
 * Adds the queue of rounds with the turns by which users alternate (`src/data/queue.ts`). Rounds that are unfinished now
 * are queued before all later ones. The schema `pgboss`, the queue until now, stays for processes of the version before.
 */
export async function addRoundQueue(tx: Transaction): Promise<void> {
  await tx`
    CREATE TABLE queued_rounds (
      round_id integer PRIMARY KEY REFERENCES rounds ON DELETE CASCADE,
      -- Lower ones start first; 0 when the round has started before.
      turn bigint NOT NULL,
      -- When a worker took the round; null while it waits. The row is deleted after the end of the round.
      taken_at timestamptz
    );
    CREATE INDEX queued_rounds_waiting ON queued_rounds (turn, round_id) WHERE taken_at IS NULL;
    CREATE INDEX queued_rounds_taken ON queued_rounds (round_id) WHERE taken_at IS NOT NULL;

    -- The turn of each user's last accepted round.
    CREATE TABLE user_turns (
      user_id integer PRIMARY KEY REFERENCES users ON DELETE CASCADE,
      turn bigint NOT NULL
    );
    -- One row: the highest turn that a worker has taken.
    CREATE TABLE present_turn (
      is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
      turn bigint NOT NULL
    );
    INSERT INTO present_turn (turn) VALUES (1);
    INSERT INTO queued_rounds (round_id, turn, taken_at)
      SELECT id, 0, CASE WHEN lease_until IS NOT NULL THEN clock_timestamp() END FROM rounds WHERE finished_at IS NULL;
  `.simple()
}
