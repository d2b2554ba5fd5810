import * as v from 'valibot'
import { type Fetch, send } from '../base/http.ts'

const address = v.pipe(v.string(), v.url())
/** What only the console's policy needs must not keep tokens from being verified. */
const tolerated = v.fallback(v.optional(address), undefined)
const DiscoverySchema = v.object({ jwks_uri: address, authorization_endpoint: tolerated, token_endpoint: tolerated })
const TIMEOUT_MS = 10_000
const MAX_BYTES = 1024 * 1024

/** What an issuer says about itself in its discovery document, as far as it is used here. */
export type Discovery = v.InferOutput<typeof DiscoverySchema>

/**
 * Reads the discovery document of an issuer. Redirects are not followed, and an issuer with an https address cannot
 * name addresses without https: its key set would be an error, other ones are left out.
 * Errors: plain ones, which are for the log only. It takes 10 s at most.
 */
export async function readDiscovery(issuer: string, fetcher: Fetch): Promise<Discovery> {
  const document = v.parse(DiscoverySchema, await readIssuerJson(fetcher, `${issuer}/.well-known/openid-configuration`))
  const { jwks_uri, authorization_endpoint, token_endpoint } = document
  const isFit = (url = '') => ['https:', new URL(issuer).protocol].includes(URL.parse(url)?.protocol ?? '')
  if (!isFit(jwks_uri)) throw new Error('jwks_uri is not an https:// address')
  return {
    jwks_uri,
    authorization_endpoint: isFit(authorization_endpoint) ? authorization_endpoint : undefined,
    token_endpoint: isFit(token_endpoint) ? token_endpoint : undefined,
  }
}

/** Reads a JSON document of an issuer. Errors: as `readDiscovery`. */
export async function readIssuerJson(fetcher: Fetch, url: string): Promise<unknown> {
  const headers = { accept: 'application/json' }
  const response = await send(fetcher, { url, headers, timeoutMs: TIMEOUT_MS, maxBytes: MAX_BYTES })
  if (response.status !== 200) throw new Error(`${new URL(url).pathname} was answered with ${response.status}`)
  return response.json()
}
