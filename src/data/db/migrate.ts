import { LOCKS } from './exclusive.ts'
import { createTables } from './steps/0001-tables.ts'
import { createSessionLists } from './steps/0002-session-lists.ts'
import { createSavedPlans } from './steps/0003-saved-plans.ts'
import { createRoundImports } from './steps/0004-round-imports.ts'
import { addReviewedCommits } from './steps/0005-reviewed-commits.ts'
import { addRoundResults } from './steps/0007-round-results.ts'
import { addCancellations } from './steps/0008-cancellations.ts'
import { createRoundAttempts } from './steps/0009-round-attempts.ts'
import { createRoundEvents } from './steps/0010-round-events.ts'
import { addPlanDocuments } from './steps/0011-plan-documents.ts'
import { createAuditRecords } from './steps/0012-audit-records.ts'
import { createListFilters } from './steps/0013-list-filters.ts'
import { addPreviews } from './steps/0014-previews.ts'
import { createConsoleFiles } from './steps/0015-console-files.ts'
import { createSearchIndexes } from './steps/search-indexes.ts'
import type { Sql, Transaction } from './types.ts'

/** The steps in the order in which they run. A released step never changes: the next change gets the next number. */
const STEPS: readonly { number: number; name: string; run: (tx: Transaction) => Promise<void> }[] = [
  { number: 1, name: 'tables', run: createTables },
  { number: 2, name: 'session lists', run: createSessionLists },
  { number: 3, name: 'saved plans', run: createSavedPlans },
  { number: 4, name: 'round imports', run: createRoundImports },
  { number: 5, name: 'reviewed commits', run: addReviewedCommits },
  { number: 7, name: 'round results', run: addRoundResults },
  { number: 8, name: 'cancellations', run: addCancellations },
  { number: 9, name: 'round attempts', run: createRoundAttempts },
  { number: 10, name: 'round events', run: createRoundEvents },
  { number: 11, name: 'plan documents', run: addPlanDocuments },
  { number: 12, name: 'audit records', run: createAuditRecords },
  { number: 13, name: 'list filters', run: createListFilters },
  { number: 14, name: 'previews', run: addPreviews },
  { number: 15, name: 'console files', run: createConsoleFiles },
]

/**
 * Brings the schema of the database up to date. All missing steps run in one transaction under one lock: of
 * several processes that start together only one runs them, and after a failure the schema is as it was before.
 */
export async function migrate(sql: Sql): Promise<void> {
  await sql.begin(async (tx) => {
    await tx`SELECT pg_advisory_xact_lock(${LOCKS.migrate})`
    await tx`CREATE TABLE IF NOT EXISTS schema_steps (
      number integer PRIMARY KEY, name text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now())`
    const applied = await tx<{ number: number }[]>`SELECT number FROM schema_steps`
    const done = new Set(applied.map((row) => row.number))
    for (const step of STEPS) {
      if (done.has(step.number)) continue
      await step.run(tx)
      await tx`INSERT INTO schema_steps (number, name) VALUES (${step.number}, ${step.name})`
    }
    await createSearchIndexes(tx)
  })
}
