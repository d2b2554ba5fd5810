import type { Transaction } from '../types.ts'

/** Creates the table of the console's files: a page that was opened before a deployment still finds its parts. */
export async function createConsoleFiles(tx: Transaction): Promise<void> {
  await tx`
    CREATE TABLE console_files (
      -- Below /console/, with the hash of the content in the name.
      path text PRIMARY KEY,
      content_type text NOT NULL,
      identity bytea NOT NULL,
      br bytea,
      gzip bytea,
      -- When a core that has this file in its build ran last, to a day.
      seen_at timestamptz NOT NULL DEFAULT clock_timestamp()
    );
    -- What is compressed already is not compressed again.
    ALTER TABLE console_files ALTER COLUMN br SET STORAGE EXTERNAL, ALTER COLUMN gzip SET STORAGE EXTERNAL;
  `.simple()
}
