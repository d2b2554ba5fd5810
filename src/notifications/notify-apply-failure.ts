import type { SessionFacts } from '../sessions/types.ts'
import { type NotificationContext, sendBestEffort } from './send-best-effort.ts'

/** The engine ended an apply with a non-zero exit code; `stderr` is its output. Best effort. */
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
