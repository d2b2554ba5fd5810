import type { SessionFacts } from '../sessions/types.ts'
import { type NotificationContext, sendBestEffort } from './send-best-effort.ts'

/** A background run ended `failed`; `message` is the text of that status. Best effort. */
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
