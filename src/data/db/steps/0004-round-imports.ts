import type { Transaction } from '../types.ts'

/**
 * Creates the table of the resources that an import round selected and imported. An import changes the state of
 * the engine for good, so a round that another worker takes up continues from these rows and does not start over.
 */
export async function createRoundImports(tx: Transaction): Promise<void> {
  await tx`
    CREATE TABLE round_imports (
      round_id integer NOT NULL REFERENCES rounds ON DELETE CASCADE,
      position integer NOT NULL,
      resource_id text NOT NULL,
      -- Set before the import is handed to the engine.
      address text,
      imported boolean NOT NULL DEFAULT false,
      PRIMARY KEY (round_id, position)
    );
  `.simple()
}
