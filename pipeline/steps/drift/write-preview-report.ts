import { storeReport } from '../../../src/reports/artifacts.ts'
import { settleDriftPreview } from '../../../src/reports/settle-drift.ts'
import type { Kit } from '../../kit/kit.ts'
import type { SeenDrift } from './look-for-drift.ts'

/**
 * Writes and stores the report on a drift preview. Code writes all of it, because there is nothing to tell beside what
 * was read.
 * Errors: those of the object store; `ReportGenerationError`.
 */
export async function writeDriftPreviewReport({ run, secrets, status }: Kit, seen: SeenDrift): Promise<void> {
  await status.show('report', 'Writing the report on what differs.')
  const document = settleDriftPreview(seen, secrets)
  await storeReport(run.context, run.round, { type: 'drift', document }, run.signal)
}
