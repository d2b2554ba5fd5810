import type { Transaction } from '../types.ts'

/** Pins also name the hash of the files beside the plan. Those from before this step have none. */
export async function createPinWorkspaceHash(tx: Transaction): Promise<void> {
  await tx`ALTER TABLE pins ADD COLUMN workspace_sha256 text`
}
