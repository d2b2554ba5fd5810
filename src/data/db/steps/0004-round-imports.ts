import type { Transaction } from '../types.ts'

/**
 * What an import round selected and what came of it. An import changes the state for good, so a round that
 * is taken up again goes on from here instead of starting over.
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
