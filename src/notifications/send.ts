import { staffEmails, type User } from '../access/users.ts'
import { unavailable } from '../base/errors.ts'
import type { Logger } from '../base/log.ts'
import type { Context } from '../context.ts'
import type { Db } from '../data/db/types.ts'
import { deliverNotification, type Notification } from '../services/notifications.ts'
import type { SessionFacts } from '../sessions/types.ts'
import { ownerEmail, sessionContext } from './notify.ts'

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

const MAX_AUDIENCE = 256

/**
 * E-mails of the staff (panel role editor or higher) in store order, then the owner's; no duplicates.
 * When the staff cannot be read only the owner is left. The contract's limit never cuts off the owner.
 */
async function notificationAudience(sql: Db, log: Logger, owner_email: string | null): Promise<string[]> {
  const staff = await staffEmails(sql).catch((error) => {
    log.warn('notification staff not read', { error })
    return []
  })
  const others = [...new Set(staff)].filter((email) => email !== owner_email)
  return owner_email ? [...others.slice(0, MAX_AUDIENCE - 1), owner_email] : others.slice(0, MAX_AUDIENCE)
}

const SUBJECT = 256
const BODY = 16_384
const BREAKS = /[\p{Cc}\u2028\u2029]+/gu

/** Cuts subject and body to the contract's limits: what the sidecar refused would be lost whole. */
function withinLimits(notification: Notification): Notification {
  return {
    ...notification,
    subject: shorten(notification.subject.replace(BREAKS, ' ').trim(), SUBJECT) || '-',
    body: notification.body.trim() === '' ? '-' : shorten(notification.body, BODY),
  }
}

/** At most `limit` UTF-16 units, an ellipsis included, and no half of a surrogate pair. */
function shorten(text: string, limit: number): string {
  if (text.length <= limit) return text
  const end = limit - 1
  const splitsPair = /[\uD800-\uDBFF]/.test(text[end - 1] ?? '')
  return `${text.slice(0, splitsPair ? end - 1 : end)}…`
}
