import type { Transaction } from '../../sql.ts'

/** Adds where the code of a session began, and the object key of the plan of that code. */
export async function addSessionBase(tx: Transaction): Promise<void> {
  await tx`ALTER TABLE sessions ADD COLUMN first_commit varchar(64)`
  await tx`ALTER TABLE sessions ADD COLUMN base_plan_key text`
}
