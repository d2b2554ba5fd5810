import type { Transaction } from '../types.ts'

/**
 * Creates what ensures that an apply runs the reviewed plan, and runs it once: the seal of a session's pinned plan
 * (`pins`), how far an apply round has come (`applies`), and which round may change a project (`project_applies`).
 */
export async function createPins(tx: Transaction): Promise<void> {
  await tx`
    -- Handed back on purpose until lease_until, or until what it waits for is over.
    ALTER TABLE rounds ADD COLUMN parked boolean NOT NULL DEFAULT false;

    CREATE TABLE pins (
      session_id integer PRIMARY KEY REFERENCES sessions,
      round_id integer NOT NULL REFERENCES rounds,
      plan_sha256 text NOT NULL,
      commit varchar(64) NOT NULL,
      targets text[] NOT NULL,
      -- Addresses with what the plan does to them.
      changes jsonb NOT NULL,
      -- Null when the iac sidecar does not tell.
      engine_name text,
      engine_version text,
      -- The state that the plan was made from; null when the plan file does not tell.
      state_lineage text,
      state_serial bigint,
      project_id text NOT NULL,
      -- Object with the encrypted directory; null when it is on the worker's disk alone.
      archive_key text,
      sealed_at timestamptz NOT NULL DEFAULT clock_timestamp()
    );
    CREATE INDEX pins_round_id ON pins (round_id);

    CREATE TABLE applies (
      round_id integer PRIMARY KEY REFERENCES rounds,
      project_id text NOT NULL,
      -- Since when the round waits for another one of its project; null when it does not.
      waiting_since timestamptz,
      -- Written before the one job is submitted: from then on no other is.
      intended_at timestamptz,
      job_id uuid,
      -- How it ended, masked; null again when the round is finished.
      result jsonb
    );
    CREATE INDEX applies_waiting ON applies (project_id) WHERE waiting_since IS NOT NULL;

    -- Counts for as long as the round is unfinished.
    CREATE TABLE project_applies (
      project_id text PRIMARY KEY,
      round_id integer NOT NULL REFERENCES rounds
    );
    CREATE INDEX project_applies_round_id ON project_applies (round_id);
  `.simple()
}
