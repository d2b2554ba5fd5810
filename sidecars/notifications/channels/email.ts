import { createTransport } from 'nodemailer'
import { CHANNEL_LIMIT_MS, type Channel, fieldsOf, type Notification } from '../message.ts'

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
export function emailText(notification: Notification): string {
  const links = notification.links.map(({ label, url }) => `${label}: ${url}`)
  const facts = fieldsOf({ ...notification, audience: [] }, (text) => text).map(
    ({ title, value }) => `${title}: ${value}`,
  )
  return [notification.body, links.join('\n'), facts.join('\n')].filter((part) => part !== '').join('\n\n')
}

export const isAddress = (text: string): boolean => /^[^\s@<>,;:"()[\]\\]{1,64}@[^\s@<>,;:"()[\]\\]{1,255}$/.test(text)
