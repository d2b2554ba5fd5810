import { z } from 'zod'

export const SEVERITIES = ['info', 'warning', 'error', 'critical'] as const

const isAbsoluteUrl = (value: string) => {
  const url = URL.canParse(value) ? new URL(value) : null
  return url !== null && /^https?:$/.test(url.protocol) && url.hostname !== ''
}

export const Notification = z.strictObject({
  kind: z.string().min(1).max(128),
  severity: z.enum(SEVERITIES),
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
