import * as v from 'valibot'
import { type Fetch, send } from '../http/outbound.ts'

const Document = v.object({ jwks_uri: v.pipe(v.string(), v.url()) })
const TIMEOUT_MS = 10_000

/**
 * The key set address of the issuer, asked for on first use and kept for the process. Concurrent
 * first calls share one request; a failure is not kept.
 */
export function discoverKeySet(issuer: string, fetcher: Fetch): () => Promise<URL> {
  let found: Promise<URL> | null = null
  const ask = async () => {
    const response = await send(fetcher, {
      url: `${issuer}/.well-known/openid-configuration`,
      timeout_ms: TIMEOUT_MS,
      max_bytes: 1024 * 1024,
    })
    if (response.status !== 200) throw new Error(`discovery answered ${response.status}`)
    return new URL(v.parse(Document, response.json()).jwks_uri)
  }
  return () => {
    found ??= ask().catch((error) => {
      found = null
      throw error
    })
    return found
  }
}
