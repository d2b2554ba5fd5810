import { readStaffEmails, type User } from '../access/users.ts'
import { unavailable } from '../base/errors.ts'
import type { Logger } from '../base/log.ts'
import { cutEnd } from '../base/text.ts'
import type { Context } from '../context.ts'
import type { Db } from '../data/db/sql.ts'
import type { SessionFacts } from '../rounds/round.ts'
import { deliverNotification, type Notification } from '../services/notifications.ts'

/**
 * Sends a user's own message to the staff and to that user.
 * @returns the delivery id
 * Throws 503 while the sidecar is disabled, 502 when it did not accept the message.
 */
export async function notifyForUser(
  context: NotificationContext,
  caller: User,
  message: Omit<Notification, 'audience'>,
): Promise<string> {
  const service = context.config.services.notifications
  if (!service.enabled) throw unavailable('Notifications are disabled.')
  const audience = await readAudience(context.sql, context.log, caller.email)
  return deliverNotification(service, context.fetch, { ...message, audience })
}

export type NotificationContext = Pick<Context, 'config' | 'fetch' | 'sql' | 'log'>

/** The events of a round that staff and owner are notified of. */
const EVENTS = {
  'system.exception.failure': { severity: 'error', title: 'System Core exception failure' },
  'iac.apply.failure': { severity: 'error', title: 'Infrastructure deployment failure' },
  'iac.compliance.failed': { severity: 'warning', title: 'Compliance check failed' },
  'iac.impact.high': { severity: 'warning', title: 'High impact changes' },
} as const

/**
 * Notifies staff and owner of an event, if the sidecar is enabled. Never throws: failures are logged.
 * @param facts.body the text of the failed status, the output of the engine, the summary of the audit or the banner
 */
export async function notifyOfEvent(
  context: NotificationContext,
  session: SessionFacts,
  kind: keyof typeof EVENTS,
  { round, body }: { round: number; body: string },
): Promise<void> {
  const service = context.config.services.notifications
  if (!service.enabled || !service.endpoint) return
  try {
    const audience = await readAudience(context.sql, context.log, ownerEmail(session))
    const { severity, title } = EVENTS[kind]
    // The contract of the sidecar limits both texts, and longer ones are refused.
    const subject = `${title} – session ${session.uuid}`.replace(LINE_BREAKS, ' ').trim()
    const notification = {
      kind,
      severity,
      subject: cutEnd(subject, MAX_SUBJECT),
      body: body.trim() === '' ? '-' : cutEnd(body, MAX_BODY),
      audience,
      context: describeSession(session, round),
    }
    await deliverNotification(service, context.fetch, notification)
  } catch (error) {
    context.log.warn(`Failed to send '${kind}' notification`, { session_id: session.uuid, error })
  }
}

const MAX_AUDIENCE = 256

/**
 * Returns the recipients: the staff (panel role editor or admin), then the owner, without duplicates. If the staff
 * cannot be read, only the owner. The sidecar's contract allows 256 addresses; the owner is always included.
 */
async function readAudience(sql: Db, log: Logger, owner: string | null): Promise<string[]> {
  const staff = await readStaffEmails(sql).catch((error) => {
    log.warn('notification staff not read', { error })
    return []
  })
  const others = [...new Set(staff)].filter((email) => email !== owner)
  return owner ? [...others.slice(0, MAX_AUDIENCE - 1), owner] : others.slice(0, MAX_AUDIENCE)
}

const MAX_SUBJECT = 256
const MAX_BODY = 16_384
const LINE_BREAKS = /[\p{Cc}\u2028\u2029]+/gu

/** Returns the facts about a session for a message, without blank and unknown ones. */
function describeSession(session: SessionFacts, round: number): Record<string, unknown> {
  const facts = {
    session_id: session.uuid,
    operation: session.operation,
    cloud: session.provider,
    project: session.scope_id,
    repository: session.workspace.uri,
    branch: session.workspace.branch,
    iac_path: session.workspace.root_path,
    round,
    user: session.username,
    request: session.first_query,
  }
  return Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== null && value !== ''))
}

/** Returns the owner's e-mail; null for a user without one, whose name is `user-<id>`. */
const ownerEmail = ({ username, user_id }: SessionFacts): string | null =>
  username === `user-${user_id}` ? null : username
