import type { Fetch } from '../../../src/base/http.ts'
import { type Channel, type Field, fieldsOf, type Notification, post } from '../message.ts'

const COLOURS = { info: '#36a64f', warning: '#f2c744', error: '#d93f3f', critical: '#7a0b0b' } as const
const BUTTONS = 5

interface Button {
  type: 'button'
  text: string
  url: string
}
interface Attachment {
  fallback: string
  color: string
  title?: string
  text?: string
  fields?: Field[]
  actions?: Button[]
}

/** Creates the channel of a chat's incoming webhook, whose URL is a credential: no error holds it. */
export const chatChannel = (webhookUrl: string, fetch: Fetch): Channel => ({
  async deliver(notification) {
    await post(fetch, 'the chat', { url: webhookUrl, json: chatMessage(notification) })
  },
})

/** Renders one attachment in the colour of the severity, and further ones for further buttons. */
export function chatMessage(notification: Notification): { attachments: Attachment[] } {
  const color = COLOURS[notification.severity]
  const subject = escapeControl(notification.subject)
  const [first, ...rest] = groupsOf(
    notification.links.map(({ label, url }): Button => ({ type: 'button', text: label, url })),
  )
  const main: Attachment = {
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

function groupsOf<T>(items: readonly T[]): T[][] {
  const groups: T[][] = []
  for (let start = 0; start < items.length; start += BUTTONS) groups.push(items.slice(start, start + BUTTONS))
  return groups
}
