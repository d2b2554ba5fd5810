import type { SessionFacts } from '../sessions/types.ts'
import { type NotificationContext, sendBestEffort } from './send-best-effort.ts'

/** The impact gate locked the session; title and description are the report's banner. Best effort. */
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
