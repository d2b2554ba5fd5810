import type { Fetch } from '../../../src/base/http.ts'
import { type Channel, post } from '../message.ts'

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
