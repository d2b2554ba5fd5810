import type { Transaction } from '../types.ts'

/** Creates the record of who did what. Rows are only ever added, and removed when their time is over. */
export async function createAuditRecords(tx: Transaction): Promise<void> {
  await tx`
    CREATE TABLE audit_records (
      id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      at timestamptz NOT NULL DEFAULT clock_timestamp(),
      action text NOT NULL,
      -- Null for what no known user did.
      user_id integer REFERENCES users,
      -- E-mail or name at that time.
      actor text,
      session_id integer REFERENCES sessions,
      -- Of the caller; null where it is not known.
      address text,
      detail jsonb NOT NULL DEFAULT '{}'
    )`.simple()
}
