import { notifyComplianceFailed, notifyImpactHigh } from '../../../src/notifications/notify.ts'
import type { ComplianceReport, GenerateReport } from '../../../src/reports/schemas.ts'
import { recordLockDecision } from '../../../src/sessions/locks.ts'
import type { Kit } from '../../kit/kit.ts'

/** What the gates look at. */
export interface Review {
  report: GenerateReport
  compliance: ComplianceReport
}

/**
 * Whether a reviewed round locks its session (true), unlocks it (false) or leaves it as it is (null):
 * each gate locks on its own; only a passing audit with a banner below high unlocks.
 */
export function lockDecision({ report, compliance }: Review, block_on_high_impact: boolean): boolean | null {
  const high = report.potential_impact.banner.level === 'high'
  if (!compliance.passed || (high && block_on_high_impact)) return true
  return high ? null : false
}

/**
 * Writes the decision and tells staff and owner about each gate that locked.
 * Errors: `SetLockError` `Error updating DB session lock.`, `LeaseLost`.
 */
export async function decideLock({ run, secrets }: Kit, review: Review): Promise<void> {
  const { context, round } = run
  const { block_on_high_impact } = context.config.orchestration
  const decision = lockDecision(review, block_on_high_impact)
  if (decision !== null) await recordLockDecision(context.sql, round, decision)
  const { banner } = review.report.potential_impact
  // What the request itself said in clear is masked on its way out, like everything else.
  const session = { ...round.session, first_query: secrets.text(round.session.first_query) }
  const notifications: Promise<void>[] = []
  if (!review.compliance.passed)
    notifications.push(
      notifyComplianceFailed(context, session, { round: round.number, summary: review.compliance.summary }),
    )
  if (banner.level === 'high' && block_on_high_impact)
    notifications.push(notifyImpactHigh(context, session, { round: round.number, ...banner }))
  await Promise.all(notifications)
}
