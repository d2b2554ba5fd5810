import { notifyOfEvent } from '../../../src/notifications/notify.ts'
import type { ComplianceReport, GenerateReport } from '../../../src/reports/schemas.ts'
import { recordLockDecision } from '../../../src/rounds/transitions.ts'
import type { Kit } from '../../kit/kit.ts'

/** Input of the two gates, compliance and impact. */
export interface Review {
  report: GenerateReport
  compliance: ComplianceReport
}

/** Returns true to lock, false to unlock (only after a passed audit, below high impact), null for no change. */
export function lockDecision({ report, compliance }: Review, blockOnHighImpact: boolean): boolean | null {
  const high = report.potential_impact.banner.level === 'high'
  if (!compliance.passed || (high && blockOnHighImpact)) return true
  return high ? null : false
}

/** Writes the decision and notifies about each gate that locked. Errors: `SetLockError`, `LeaseLost`. */
export async function decideLock({ run, secrets }: Kit, review: Review): Promise<void> {
  const { context, round } = run
  const { block_on_high_impact } = context.config.orchestration
  const decision = lockDecision(review, block_on_high_impact)
  if (decision !== null) await recordLockDecision(context.sql, round, decision)
  const { banner } = review.report.potential_impact
  // The user may have typed a secret into the request.
  const session = { ...round.session, first_query: secrets.text(round.session.first_query) }
  const notify = (kind: 'iac.compliance.failed' | 'iac.impact.high', body: string) =>
    notifyOfEvent(context, session, kind, { round: round.number, body })
  const notifications: Promise<void>[] = []
  if (!review.compliance.passed) notifications.push(notify('iac.compliance.failed', review.compliance.summary))
  if (banner.level === 'high' && block_on_high_impact)
    notifications.push(notify('iac.impact.high', [banner.title, banner.description].filter(Boolean).join('\n\n')))
  await Promise.all(notifications)
}
