import type { JSONWebKeySet } from 'jose'
import * as v from 'valibot'
import { type Fetch, send } from '../base/http.ts'

const Document = v.object({ jwks_uri: v.pipe(v.string(), v.url()) })
const publishedKeys = v.object({ keys: v.array(v.looseObject({ kty: v.optional(v.string()) })) })
const TIMEOUT_MS = 10_000
const MAX_BYTES = 1024 * 1024

/**
 * Reads the key set of an issuer. Its address is asked for on first use and kept for the process;
 * concurrent first calls share one request, a failure is not kept. Redirects are not followed, and an
 * issuer on https cannot send the core to an address without it.
 * Errors: plain ones, for the log only; each request takes 10 s at most.
 */
export function keySetReader(issuer: string, fetcher: Fetch): () => Promise<JSONWebKeySet> {
  let address: Promise<string> | null = null
  const discover = async () => {
    const found = v.parse(Document, await readJson(fetcher, `${issuer}/.well-known/openid-configuration`))
    const { protocol } = new URL(found.jwks_uri)
    if (protocol !== 'https:' && protocol !== new URL(issuer).protocol)
      throw new Error('jwks_uri is not an https:// address')
    return found.jwks_uri
  }
  return async () => {
    address ??= discover().catch((error) => {
      address = null
      throw error
    })
    return v.parse(publishedKeys, await readJson(fetcher, await address))
  }
}

async function readJson(fetcher: Fetch, url: string): Promise<unknown> {
  const headers = { accept: 'application/json' }
  const response = await send(fetcher, { url, headers, timeout_ms: TIMEOUT_MS, max_bytes: MAX_BYTES })
  if (response.status !== 200) throw new Error(`${new URL(url).pathname} was answered with ${response.status}`)
  return response.json()
}
