import type { Transaction } from '../../sql.ts'

/** Adds the subject of the user's token to the audit. Entries from before have none, because entries never change. */
export async function addAuditSubject(tx: Transaction): Promise<void> {
  await tx`ALTER TABLE audit_records ADD COLUMN subject text`
}
