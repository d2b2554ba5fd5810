import type { SessionFacts } from '../rounds/round.ts'
import { type NotificationContext, sendBestEffort } from './send.ts'

// None of these functions throws: a notification that cannot be sent is logged.

/** Reports that a round ended with the status `failed`. `message` is the text of that status. */
export const notifyRunFailure = (
  context: NotificationContext,
  session: SessionFacts,
  facts: { round: number; message: string },
): Promise<void> =>
  sendBestEffort(context, session, facts.round, {
    kind: 'system.exception.failure',
    severity: 'error',
    subject: `System Core exception failure – session ${session.uuid}`,
    body: facts.message,
  })

/** Reports that the engine ended an apply with a non-zero exit code. `stderr` is its output. */
export const notifyApplyFailure = (
  context: NotificationContext,
  session: SessionFacts,
  facts: { round: number; stderr: string },
): Promise<void> =>
  sendBestEffort(context, session, facts.round, {
    kind: 'iac.apply.failure',
    severity: 'error',
    subject: `Infrastructure deployment failure – session ${session.uuid}`,
    body: facts.stderr,
  })

/** Reports that the compliance audit locked the session. `summary` was written by the auditor. */
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

/** Reports that the impact gate locked the session. The texts are those of the report's banner. */
export const notifyImpactHigh = (
  context: NotificationContext,
  session: SessionFacts,
  facts: { round: number; title: string; description: string },
): Promise<void> =>
  sendBestEffort(context, session, facts.round, {
    kind: 'iac.impact.high',
    severity: 'warning',
    subject: `High impact changes – session ${session.uuid}`,
    body: [facts.title, facts.description].filter((text) => text !== '').join('\n\n'),
  })
