import type { User } from '../access/users.ts'
import { unavailable } from '../base/errors.ts'
import { deliverNotification, type Notification } from '../sidecar-clients/notifications.ts'
import { notificationAudience } from './audience.ts'
import type { NotificationContext } from './send-best-effort.ts'

/**
 * Hands on what a user has to say, to the staff and to the user; answers the delivery id.
 * Errors: 503 while the sidecar is disabled, 502 when it did not accept.
 */
export async function notifyForUser(
  context: NotificationContext,
  caller: User,
  message: Omit<Notification, 'audience'>,
): Promise<string> {
  const service = context.config.services.notifications
  if (!service.enabled) throw unavailable('Notifications are disabled.')
  const audience = await notificationAudience(context.sql, context.log, caller.email)
  return deliverNotification(service, context.fetch, { ...message, audience })
}
