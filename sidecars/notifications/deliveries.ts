import type { Channel, Notification } from './message.ts'

/** Time in which a sender without an answer repeats its request. */
const WINDOW_MS = 30_000
/** Memory for remembered deliveries, in bytes. */
const MAX_BYTES = 4 * 1024 * 1024
/** Memory of one remembered delivery: hash, id and overhead, independent of the message. */
const ENTRY_BYTES = 512

export interface Deliveries {
  /** Delivers and returns the delivery id. Errors: those of the channel. */
  deliver(notification: Notification): Promise<string>
}

/**
 * Delivers each notification once: one that is equal in every field gets, within half a minute, the id of the first. One
 * that has failed is forgotten at once and may be sent again. Only the hash of a notification is remembered; when there
 * are too many, the oldest are forgotten first.
 * @param options.now a time in milliseconds, from any beginning
 * @param options.maxBytes memory for remembered deliveries
 */
export function createDeliveries(
  channel: Channel,
  { now = () => performance.now(), maxBytes = MAX_BYTES }: { now?: () => number; maxBytes?: number } = {},
): Deliveries {
  const recent = new Map<string, { at: number; id: Promise<string> }>()
  const forget = () => {
    for (const [key, { at }] of recent) {
      if (now() - at < WINDOW_MS && (recent.size + 1) * ENTRY_BYTES <= maxBytes) return
      recent.delete(key)
    }
  }
  return {
    async deliver(notification) {
      const key = await hashOf(notification)
      const known = recent.get(key)
      if (known && now() - known.at < WINDOW_MS) return known.id
      forget()
      const deliveryId = crypto.randomUUID()
      const id = channel.deliver(notification, deliveryId).then(() => deliveryId)
      recent.set(key, { at: now(), id })
      id.catch(() => {
        if (recent.get(key)?.id === id) recent.delete(key)
      })
      return id
    },
  }
}

/** Returns the SHA-256 of a notification, in base64. */
async function hashOf(notification: Notification): Promise<string> {
  const bytes = new TextEncoder().encode(JSON.stringify(notification))
  return btoa(String.fromCharCode(...new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))))
}
