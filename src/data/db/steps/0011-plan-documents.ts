import type { Transaction } from '../types.ts'

/** Adds the plan as data beside its text. Plans from before this step, and plans that failed, have none. */
export async function addPlanDocuments(tx: Transaction): Promise<void> {
  await tx`ALTER TABLE engine_plans ADD COLUMN document_artifact_id integer REFERENCES artifacts`
  await tx`CREATE INDEX engine_plans_document_artifact_id ON engine_plans (document_artifact_id)`
}
