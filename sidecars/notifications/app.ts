import type { Hono } from 'hono'
import { OutboundError } from '../../src/base/http.ts'
import type { Logger } from '../../src/base/log.ts'
import { createSidecarApp } from '../shared/create-app.ts'
import { problemResponse } from '../shared/problem.ts'
import { readBody } from '../shared/read-body.ts'
import type { Deliveries } from './deliveries.ts'
import { ChannelError, Notification } from './message.ts'

/** Limit for 256 names of 4 KiB each and a full message; the contract sets none for the names of an audience. */
const MAX_BODY_BYTES = 2 * 1024 * 1024

/** Creates the HTTP routes of `contracts/notifications.v1.yaml`. */
export function createNotificationsApp(options: { token: string; deliveries: Deliveries; log: Logger }): Hono {
  const { deliveries, log } = options
  const app = createSidecarApp({ token: options.token, log })
  app.post('/v1/notify', async (c) => {
    const body = await readBody(c, Notification, { maxBytes: MAX_BODY_BYTES, typed: true })
    if (!body.ok) return body.response
    const { kind, severity } = body.value
    try {
      const deliveryId = await deliveries.deliver(body.value)
      log.info('notification delivered', { kind, severity, delivery_id: deliveryId })
      return c.json({ delivery_id: deliveryId }, 202)
    } catch (error) {
      log.error('notification not delivered', { kind, severity, reason: reasonOf(error) })
      return problemResponse(502, 'Downstream channel error')
    }
  })
  return app
}

/** Returns the codes of an error. A library's message may quote the address of the channel, a credential. */
function reasonOf(error: unknown): string {
  if (error instanceof ChannelError) return error.message
  if (error instanceof OutboundError) return error.kind
  const code = error instanceof Error && 'code' in error ? error.code : null
  return typeof code === 'string' ? code : 'unknown error'
}
