import type { Channel, Notification } from './message.ts'

/** A sender that saw no answer asks again within this time. */
const WINDOW_MS = 30_000
const MAX_REMEMBERED = 10_000

export interface Deliveries {
  /** Delivers and answers the delivery id. Errors: those of the channel. */
  deliver(notification: Notification): Promise<string>
}

/**
 * Delivers each notification once. The same one, equal in every field, is answered with the id of the first when it
 * comes again within half a minute. One that has failed is forgotten at once and may be sent again.
 */
export function createDeliveries(channel: Channel, now: () => number = () => performance.now()): Deliveries {
  const recent = new Map<string, { at: number; id: Promise<string> }>()
  const forget = () => {
    for (const [key, { at }] of recent) {
      if (now() - at < WINDOW_MS && recent.size <= MAX_REMEMBERED) return
      recent.delete(key)
    }
  }
  return {
    deliver(notification) {
      forget()
      const key = JSON.stringify(notification)
      const known = recent.get(key)
      if (known) return known.id
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
