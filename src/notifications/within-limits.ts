import type { Notification } from '../sidecar-clients/notifications.ts'

const SUBJECT = 256
const BODY = 16_384
const BREAKS = /[\p{Cc}\u2028\u2029]+/gu

/** Cuts subject and body to the contract's limits: what the sidecar refused would be lost whole. */
export function withinLimits(notification: Notification): Notification {
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
