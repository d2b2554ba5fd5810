import type { Context } from '../context.ts'
import type { SessionFacts } from '../sessions/types.ts'
import { deliverNotification, type Notification } from '../sidecar-clients/notifications.ts'
import { notificationAudience } from './audience.ts'
import { ownerEmail, sessionContext } from './session-context.ts'
import { withinLimits } from './within-limits.ts'

export type NotificationContext = Pick<Context, 'config' | 'fetch' | 'sql' | 'log'>

/**
 * Sends what the core itself has to say about a session. Never throws: a failure is one log line. A
 * disabled sidecar, or one without endpoint, is not contacted.
 */
export async function sendBestEffort(
  context: NotificationContext,
  session: SessionFacts,
  round: number,
  message: Pick<Notification, 'kind' | 'severity' | 'subject' | 'body'>,
): Promise<void> {
  const service = context.config.services.notifications
  if (!service.enabled || !service.endpoint) return
  try {
    const audience = await notificationAudience(context.sql, context.log, ownerEmail(session))
    const notification = withinLimits({ ...message, audience, context: sessionContext(session, round) })
    await deliverNotification(service, context.fetch, notification)
  } catch (error) {
    context.log.warn(`Failed to send '${message.kind}' notification`, { session_id: session.uuid, error })
  }
}
