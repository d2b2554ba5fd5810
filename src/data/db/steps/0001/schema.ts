import type { Transaction } from '../../sql.ts'
import { createApplies } from './applies.ts'
import { createArtifacts } from './artifacts.ts'
import { createRecords } from './records.ts'
import { createRounds } from './rounds.ts'
import { createSessionLists } from './session-lists.ts'
import { createSessions } from './sessions.ts'

/** Creates the schema of the first release (step 1). */
export async function createSchema(tx: Transaction): Promise<void> {
  await createTypes(tx)
  await createSessions(tx)
  await createRounds(tx)
  await createArtifacts(tx)
  await createApplies(tx)
  await createSessionLists(tx)
  await createRecords(tx)
  await refreshUpdatedAt(tx)
}

async function createTypes(tx: Transaction): Promise<void> {
  await tx`
    CREATE TYPE operation_role AS ENUM ('developer', 'devops');
    CREATE TYPE panel_role AS ENUM ('viewer', 'editor', 'admin');
    CREATE TYPE operation AS ENUM ('generate', 'drift', 'import');
    CREATE TYPE cloud AS ENUM ('azure', 'gcp', 'aws', 'oci', 'kubernetes');
    CREATE TYPE session_status AS ENUM
      ('started', 'filtering', 'generating', 'validating', 'report', 'apply', 'completed', 'uncompleted', 'failed');
    CREATE TYPE round_mode AS ENUM ('generate', 'drift', 'import', 'apply');
    CREATE TYPE report_type AS ENUM ('generate', 'drift', 'import', 'apply');
    CREATE TYPE git_provider AS ENUM ('GITHUB', 'AZURE_DEVOPS', 'GITLAB');
  `.simple()
}

/** Keeps `updated_at` current in every table that has the column. */
async function refreshUpdatedAt(tx: Transaction): Promise<void> {
  await tx`CREATE FUNCTION refresh_updated_at() RETURNS trigger LANGUAGE plpgsql AS
    'BEGIN NEW.updated_at := clock_timestamp(); RETURN NEW; END'`
  const tables = await tx<{ name: string }[]>`
    SELECT table_name AS name FROM information_schema.columns
    WHERE table_schema = current_schema() AND column_name = 'updated_at'`
  for (const { name } of tables)
    await tx`
      CREATE TRIGGER refresh_updated_at BEFORE UPDATE ON ${tx(name)}
      FOR EACH ROW EXECUTE FUNCTION refresh_updated_at()`
}
