import type { Transaction } from '../../sql.ts'

/**
 * Creates the tables that ensure that an apply runs the reviewed plan, and only once: the saved plans, the progress of
 * apply rounds (`applies`), and the round that may change a project (`project_applies`).
 */
export async function createApplies(tx: Transaction): Promise<void> {
  await tx`
    CREATE TABLE saved_plans (
      -- The round that saved the plan.
      round_id integer PRIMARY KEY REFERENCES rounds,
      session_id integer NOT NULL REFERENCES sessions,
      plan_sha256 text NOT NULL,
      -- Of the files beside the plan.
      workspace_sha256 text NOT NULL,
      commit varchar(64) NOT NULL,
      targets text[] NOT NULL,
      -- Addresses with what the plan does to them; empty once the plan has ended.
      changes jsonb NOT NULL,
      -- Name and version; null when the iac sidecar does not tell.
      engine jsonb,
      -- Lineage and serial of the state that the plan was made from; null when the plan file does not tell.
      state jsonb,
      project_id text NOT NULL,
      -- Object with the encrypted directory; null when it is on the worker's disk alone.
      archive_key text,
      saved_at timestamptz NOT NULL DEFAULT clock_timestamp(),
      -- When, by which round and why the plan ended; null while it may be applied.
      ended_at timestamptz,
      ended_by integer REFERENCES rounds,
      end_reason text,
      -- The last comparison with the present state.
      verified_at timestamptz,
      checks jsonb NOT NULL DEFAULT '[]'
    );
    -- A session has one plan that may be applied.
    CREATE UNIQUE INDEX saved_plans_current ON saved_plans (session_id) WHERE ended_at IS NULL;
    CREATE INDEX saved_plans_of_session ON saved_plans (session_id, saved_at DESC);
    CREATE INDEX saved_plans_ended_by ON saved_plans (ended_by);

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
