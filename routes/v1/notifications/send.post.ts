import { z } from '@hono/zod-openapi'
import { SEVERITIES } from '../../../src/base/vocabulary.ts'
import { notifyForUser } from '../../../src/notifications/notify.ts'
import { requireUser } from '../../access.ts'
import { endpoint } from '../../endpoint.ts'
import { errorAnswer, json } from '../../openapi/answers.ts'
import { line, listOf, optional, text, webAddress } from '../../validation/fields.ts'
import { MESSAGE_BODY } from '../../validation/read-body.ts'

const Link = z.strictObject({ label: text({ min: 1, max: 128 }), url: webAddress(2048) })
export const NotificationRequest = z
  .strictObject({
    kind: text({ min: 1, max: 128 }).describe('Dotted lower case by convention.'),
    severity: z.enum(SEVERITIES),
    subject: line({ min: 1, max: 256 }).describe('A single line, without control characters.'),
    body: text({ min: 1, max: 16_384 }).describe('Markdown permitted.'),
    links: optional(listOf(Link, { max: 32 })).openapi({
      type: ['array', 'null'],
      items: {
        type: 'object',
        additionalProperties: false,
        required: ['label', 'url'],
        properties: {
          label: { type: 'string', minLength: 1, maxLength: 128, pattern: '^[^\\u0000]*$' },
          url: {
            type: 'string',
            format: 'uri',
            pattern: '^[hH][tT][tT][pP][sS]?://[^\\s/?#]',
            minLength: 1,
            maxLength: 2048,
          },
        },
      },
    }),
    context: optional(z.record(z.string(), z.unknown())).describe('Any facts that help.'),
  })
  .openapi('NotificationRequest', {
    example: {
      kind: 'support.user_question',
      severity: 'info',
      subject: 'Why is my session locked?',
      body: 'The audit names a bucket that I did not touch.',
      links: [{ label: 'Session', url: 'https://platform.example.org/sessions/5f0c3b0e-8f57-4a52-9f0b-0d9f3c1f7a11' }],
      context: { session_id: '5f0c3b0e-8f57-4a52-9f0b-0d9f3c1f7a11' },
    },
  })
export const Delivery = z
  .object({ delivery_id: z.string().describe('Names this attempt; no route takes it back.') })
  .openapi('Delivery', { example: { delivery_id: '0b8f3a52-31f6-4f0c-9a0e-6f1f1c3f7a10' } })

export const postNotification = endpoint({
  method: 'post',
  path: '/v1/notifications',
  operationId: 'postNotification',
  tags: ['Notifications'],
  summary: 'Send a message',
  description:
    'To everybody with panel role editor or higher, and to the caller. ' +
    'Keys that are not listed are refused, `audience` too: the recipients are not the caller’s choice. ' +
    'For every signed-in user.',
  request: { body: NotificationRequest },
  answer: json(Delivery, 'The message is on its way.', 202),
  errors: [
    errorAnswer(
      502,
      'The notifications service did not accept the message, for whatever reason.',
      'Notification was not delivered.',
    ),
    errorAnswer(503, 'The notifications service is disabled.', 'Notifications are disabled.'),
  ],
  gate: requireUser,
  maxBodyBytes: MESSAGE_BODY,
  handle: async (c, { body }) => {
    const { links, context, ...message } = body
    const { platform, user, log } = c.var
    const notification = { ...message, ...(links ? { links } : {}), ...(context ? { context } : {}) }
    return { delivery_id: await notifyForUser({ ...platform, log }, user, notification) }
  },
})
