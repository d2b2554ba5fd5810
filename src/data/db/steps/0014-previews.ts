import type { Transaction } from '../types.ts'

/** Adds what a round is asked to do beside its query: to look without touching, and which resources to import. */
export async function addPreviews(tx: Transaction): Promise<void> {
  await tx`
    ALTER TABLE rounds ADD COLUMN preview boolean NOT NULL DEFAULT false;
    ALTER TABLE rounds ADD COLUMN resource_ids text[];
  `.simple()
}
