import { createTransport } from 'nodemailer'
import type { Fetch } from '../../src/base/http.ts'
import { CHANNEL_LIMIT_MS, type Channel, fieldsOf, type Notification, post } from './deliveries.ts'

const COLOURS = { info: '#36a64f', warning: '#f2c744', error: '#d93f3f', critical: '#7a0b0b' } as const

/** Creates the channel of a chat's incoming webhook, whose URL is a credential: no error holds it. */
export const chatChannel = (webhookUrl: string, fetch: Fetch): Channel => ({
  async deliver(notification) {
    await post(fetch, 'the chat', { url: webhookUrl, json: chatMessage(notification) })
  },
})

/** Renders one attachment in the colour of the severity, and further ones for further buttons. */
function chatMessage(notification: Notification) {
  const color = COLOURS[notification.severity]
  const subject = escapeControl(notification.subject)
  const buttons = notification.links.map(({ label, url }) => ({ type: 'button', text: label, url }))
  // Five buttons an attachment.
  const [first, ...rest] = Object.values(Object.groupBy(buttons, (_button, index) => Math.floor(index / 5)))
  const main = {
    fallback: subject,
    title: subject,
    color,
    text: escapeControl(notification.body),
    fields: fieldsOf(notification, escapeControl),
    ...(first && { actions: first }),
  }
  return { attachments: [main, ...rest.map((actions) => ({ fallback: subject, color, actions }))] }
}

/** Escapes the characters that begin the chat's commands, such as a mention of all or a renamed link. */
const escapeControl = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

/** Creates the channel of an HTTP endpoint. Standard Webhooks: HMAC-SHA256 over `<id>.<seconds>.<body>`. */
export const webhookChannel = (
  url: string,
  secret: string,
  fetch: Fetch,
  now: () => Date = () => new Date(),
): Channel => ({
  async deliver(notification, deliveryId) {
    const body = JSON.stringify({ delivery_id: deliveryId, ...notification })
    const timestamp = String(Math.floor(now().getTime() / 1000))
    await post(fetch, 'the webhook', {
      url,
      body,
      headers: {
        'content-type': 'application/json',
        'webhook-id': deliveryId,
        'webhook-timestamp': timestamp,
        'webhook-signature': `v1,${await sign(secret, `${deliveryId}.${timestamp}.${body}`)}`,
      },
    })
  },
})

async function sign(secret: string, text: string): Promise<string> {
  const encode = (value: string) => new TextEncoder().encode(value)
  const key = await crypto.subtle.importKey('raw', encode(secret), { name: 'HMAC', hash: 'SHA-256' }, false, ['sign'])
  const signature = new Uint8Array(await crypto.subtle.sign('HMAC', key, encode(text)))
  return btoa(String.fromCharCode(...signature))
}

export interface EmailSettings {
  /** `smtp://` (upgraded by STARTTLS if offered) or `smtps://`, with user and password if needed. */
  smtpUrl: string
  from: string
  /** Recipients when the audience names none that is an address. */
  to: readonly string[]
}

/** Creates a channel of plain text by SMTP. Recipients are blind copies, hidden from each other. */
export function emailChannel({ smtpUrl, from, to }: EmailSettings): Channel {
  const ms = CHANNEL_LIMIT_MS
  const limits = { connectionTimeout: ms, greetingTimeout: ms, socketTimeout: ms }
  const transport = createTransport({ url: smtpUrl, ...limits, disableFileAccess: true, disableUrlAccess: true })
  return {
    async deliver(notification, deliveryId) {
      const named = notification.audience.filter(isAddress)
      await transport.sendMail({
        from,
        bcc: named.length > 0 ? named : [...to],
        subject: `[${notification.severity}] ${notification.subject}`,
        text: emailText(notification),
        headers: {
          'X-Delivery-Id': deliveryId,
          'X-Notification-Kind': notification.kind,
          'Auto-Submitted': 'auto-generated',
        },
      })
    },
  }
}

/** Renders the text of a mail: the body, the links, then one fact per line. */
function emailText(notification: Notification): string {
  const links = notification.links.map(({ label, url }) => `${label}: ${url}`)
  const facts = fieldsOf({ ...notification, audience: [] }, (text) => text).map(
    ({ title, value }) => `${title}: ${value}`,
  )
  return [notification.body, links.join('\n'), facts.join('\n')].filter((part) => part !== '').join('\n\n')
}

export const isAddress = (text: string): boolean => /^[^\s@<>,;:"()[\]\\]{1,64}@[^\s@<>,;:"()[\]\\]{1,255}$/.test(text)
