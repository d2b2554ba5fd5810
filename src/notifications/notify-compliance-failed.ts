import type { SessionFacts } from '../sessions/types.ts'
import { type NotificationContext, sendBestEffort } from './send-best-effort.ts'

/** The compliance audit locked the session; `summary` is the auditor's. Best effort. */
export const notifyComplianceFailed = (
  context: NotificationContext,
  session: SessionFacts,
  facts: { round: number; summary: string },
): Promise<void> =>
  sendBestEffort(context, session, facts.round, {
    kind: 'iac.compliance.failed',
    severity: 'warning',
    subject: `Compliance check failed – session ${session.uuid}`,
    body: facts.summary,
  })
