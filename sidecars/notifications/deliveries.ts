import { z } from 'zod'
import { type Fetch, type OutboundRequest, send } from '../../src/base/http.ts'

const isAbsoluteUrl = (value: string) => {
  const url = URL.parse(value)
  return url !== null && /^https?:$/.test(url.protocol) && url.hostname !== ''
}

export const Notification = z.strictObject({
  kind: z.string().min(1).max(128),
  severity: z.enum(['info', 'warning', 'error', 'critical']),
  subject: z
    .string()
    .min(1)
    .max(256)
    .regex(/^[^\p{Cc}\u2028\u2029]*$/u, 'must be a single line'),
  body: z.string().min(1).max(16_384),
  audience: z.array(z.string()).max(256).default([]),
  links: z
    .array(
      z.strictObject({
        label: z.string().min(1).max(128),
        url: z.string().max(2048).refine(isAbsoluteUrl, 'must be an absolute http or https URL'),
      }),
    )
    .max(32)
    .default([]),
  context: z.record(z.string(), z.unknown()).default({}),
})
export type Notification = z.output<typeof Notification>

/** A destination of notifications. `deliver` resolves when the receiver has accepted the message, else throws. */
export interface Channel {
  deliver(notification: Notification, deliveryId: string): Promise<void>
}

/** Thrown when the receiver refuses. The message holds no address, since that of a chat is a credential. */
export class ChannelError extends Error {
  override readonly name = 'ChannelError'
}

/** Time limit of the receiver's answer, in milliseconds. */
export const CHANNEL_LIMIT_MS = 10_000

/** Posts a message. Errors: `ChannelError` for an answer that is no success, which names `receiver`; those of `send`. */
export async function post(
  fetch: Fetch,
  receiver: string,
  message: Pick<OutboundRequest, 'url' | 'headers' | 'body' | 'json'>,
): Promise<void> {
  const limits = { timeoutMs: CHANNEL_LIMIT_MS, maxBytes: 64 * 1024 }
  const { status } = await send(fetch, { ...message, method: 'POST', ...limits })
  if (status < 200 || status > 299) throw new ChannelError(`${receiver} answered HTTP ${status}`)
}

/** One fact beside the body of a message. */
export interface Field {
  title: string
  value: string
  short: boolean
}

const MAX_VALUE = 1000

/** Returns kind, severity, audience and context as fields. `safe` escapes text before its length counts. */
export function fieldsOf({ kind, severity, audience, context }: Notification, safe: (text: string) => string): Field[] {
  const fields: Field[] = [
    { title: 'Kind', value: safe(kind), short: true },
    { title: 'Severity', value: severity, short: true },
  ]
  if (audience.length > 0) fields.push({ title: 'Audience', value: audienceText(audience.map(safe)), short: false })
  for (const [key, value] of Object.entries(context)) {
    const text = cap(safe(valueText(value)))
    if (text !== '')
      fields.push({ title: safe(titleOf(key)), value: text, short: text.length <= 40 && !text.includes('\n') })
  }
  return fields
}

/** Renders `session_id` and `firstQuery` as `Session id` and `First query`. */
export function titleOf(key: string): string {
  const words = key
    .replace(/([\p{Ll}\p{N}])(\p{Lu})/gu, '$1 $2')
    .replace(/[-_\s]+/g, ' ')
    .trim()
    .toLowerCase()
  return words.charAt(0).toUpperCase() + words.slice(1)
}

/** Renders a value; empty for one that is not worth a field. */
function valueText(value: unknown): string {
  if (value === null || value === undefined) return ''
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  if (typeof value === 'string') return value.trim()
  return typeof value === 'number' ? String(value) : JSON.stringify(value)
}

/** Renders as many whole recipients as fit together with the count of the others. */
export function audienceText(audience: readonly string[]): string {
  const whole = audience.join(', ')
  if (whole.length <= MAX_VALUE) return whole
  let kept = ''
  for (const [index, recipient] of audience.entries()) {
    const next = index === 0 ? recipient : `${kept}, ${recipient}`
    const hidden = audience.length - index - 1
    if (next.length + ` +${hidden} more`.length > MAX_VALUE)
      return `${kept} +${audience.length - index} more`.trimStart()
    kept = next
  }
  return kept
}

/** Cuts to 1000 characters including the ellipsis, without splitting a surrogate pair or an entity. */
function cap(text: string): string {
  if (text.length <= MAX_VALUE) return text
  const cut = text
    .slice(0, MAX_VALUE - 1)
    .replace(/[\uD800-\uDBFF]$/, '')
    .replace(/&[a-z]{0,3}$/, '')
  return `${cut}…`
}

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
