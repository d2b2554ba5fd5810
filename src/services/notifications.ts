import * as v from 'valibot'
import type { ServiceConfig } from '../../config/types.ts'
import { badGateway } from '../base/errors.ts'
import { type Fetch, send } from '../base/http.ts'
import type { Severity } from '../base/vocabulary.ts'
import { contractText } from './ask.ts'

/** Body of `POST /v1/notify`. Empty optional fields are omitted from the JSON. */
export interface Notification {
  /** Lower-case words separated by dots, 1 to 128 characters, for example `iac.apply.failure`. */
  kind: string
  severity: Severity
  /** One line of 1-256 characters. */
  subject: string
  /** 1 to 16384 characters. Markdown is allowed. */
  body: string
  audience?: string[]
  links?: { label: string; url: string }[]
  context?: Record<string, unknown>
}

const AcceptedSchema = v.object({ delivery_id: contractText(1, Number.POSITIVE_INFINITY) })
const notDelivered = (cause: unknown) => badGateway('Notification was not delivered.', cause)

/**
 * Sends one notification to the sidecar.
 * @returns the delivery id
 * Throws `PlatformError` 502 `Notification was not delivered.` for every fault; its `cause` has the details.
 */
export async function deliverNotification(
  service: ServiceConfig,
  fetcher: Fetch,
  notification: Notification,
  signal?: AbortSignal,
): Promise<string> {
  if (!service.endpoint) throw notDelivered(new Error('the notifications service has no endpoint'))
  const { audience, links, context, ...required } = notification
  const json: Notification = {
    ...required,
    ...(audience?.length && { audience }),
    ...(links?.length && { links }),
    ...(context && Object.keys(context).length > 0 && { context }),
  }
  try {
    const response = await send(fetcher, {
      url: `${service.endpoint}/v1/notify`,
      method: 'POST',
      headers: { authorization: `Bearer ${service.token}` },
      json,
      timeoutMs: service.timeout * 1000,
      maxBytes: 1024 * 1024,
      signal,
    })
    if (response.status !== 202) throw new Error(`the notifications service answered HTTP ${response.status}`)
    return v.parse(AcceptedSchema, response.json()).delivery_id
  } catch (error) {
    throw notDelivered(error)
  }
}
