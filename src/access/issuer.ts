import {
  createLocalJWKSet,
  createRemoteJWKSet,
  customFetch,
  errors,
  type JWKSCacheInput,
  type JWTVerifyGetKey,
  jwksCache,
} from 'jose'
import * as v from 'valibot'
import { type Fetch, send } from '../base/http.ts'

const address = v.pipe(v.string(), v.url())
/** An address that only the console's policy needs. An invalid one must not prevent the verification of tokens. */
const tolerated = v.fallback(v.optional(address), undefined)
/** What is only told to operators. */
const told = v.fallback(v.optional(v.string()), undefined)
const DiscoverySchema = v.object({
  jwks_uri: address,
  authorization_endpoint: tolerated,
  token_endpoint: tolerated,
  issuer: told,
  /** Of AD FS. */
  access_token_issuer: told,
})
const TIMEOUT_MS = 10_000
const MAX_BYTES = 1024 * 1024
const MAX_AGE_MS = 300_000
const COOLDOWN_MS = 10_000

/**
 * Reads the discovery document of an issuer, within 10 s and without following redirects. For an https issuer, a key
 * set without https is an error and other such addresses are dropped. Throws plain errors, which are for the log only.
 */
export async function readDiscovery(issuer: string, fetcher: Fetch) {
  const document = v.parse(DiscoverySchema, await readJson(fetcher, `${issuer}/.well-known/openid-configuration`))
  const { jwks_uri, authorization_endpoint, token_endpoint, issuer: name, access_token_issuer } = document
  const isFit = (url = '') => ['https:', new URL(issuer).protocol].includes(URL.parse(url)?.protocol ?? '')
  if (!isFit(jwks_uri)) throw new Error('jwks_uri is not an https:// address')
  return {
    jwks_uri,
    authorization_endpoint: isFit(authorization_endpoint) ? authorization_endpoint : undefined,
    token_endpoint: isFit(token_endpoint) ? token_endpoint : undefined,
    issuer: name,
    access_token_issuer,
  }
}

async function readJson(fetcher: Fetch, url: string): Promise<unknown> {
  const headers = { accept: 'application/json' }
  const response = await send(fetcher, { url, headers, timeoutMs: TIMEOUT_MS, maxBytes: MAX_BYTES })
  if (response.status !== 200) throw new Error(`${new URL(url).pathname} was answered with ${response.status}`)
  return response.json()
}

/**
 * Returns the signing keys of an issuer. The discovery document is read on first use, the keys every 300 s, and for an
 * unknown key id at most once in 10 s, so that invalid tokens cannot flood the issuer. Concurrent calls share one
 * request, and a failed first request is not kept. Each request takes at most 10 s. Throws plain errors and those of
 * `jose`, which are for the log only. `current` returns the key set in use: a new object after each reload, null when
 * there is none or it is too old. `ownersOf` returns the issuers to which the set restricts the keys of an id, or
 * those of all its keys without an id.
 */
export function createIssuerKeys(issuer: string, fetcher: Fetch) {
  const cache = emptyCache()
  let retriedAt = Number.NEGATIVE_INFINITY
  const isFresh = () => isWithin(MAX_AGE_MS, cache.uat ?? Number.NEGATIVE_INFINITY)
  const connect = async () => {
    const { jwks_uri } = await readDiscovery(issuer, fetcher)
    return createRemoteJWKSet(new URL(jwks_uri), {
      timeoutDuration: TIMEOUT_MS,
      cacheMaxAge: MAX_AGE_MS,
      // The library counts its cooldown from the last reading, so that a new key would be refused after a regular one.
      cooldownDuration: 0,
      [jwksCache]: cache,
      [customFetch]: async (url) => {
        // Keys that are fresh are read again for an unknown key id alone.
        if (isFresh()) {
          if (isWithin(COOLDOWN_MS, retriedAt)) throw new errors.JWKSNoMatchingKey()
          retriedAt = Date.now()
        }
        return Response.json(await readJson(fetcher, url))
      },
    })
  }
  let remote: ReturnType<typeof connect> | null = null
  const find: JWTVerifyGetKey = async (header, token) => {
    remote ??= connect().catch((error) => {
      remote = null
      throw error
    })
    const keys = await remote
    if (isFresh()) return keys(header, token)
    // A caller for whom the keys are read needs no second reading.
    await keys.reload()
    return createLocalJWKSet(keys.jwks() ?? { keys: [] })(header, token)
  }
  return Object.assign(find, {
    current: (): object | null => (isFresh() ? (cache.jwks ?? null) : null),
    ownersOf: (id: string | undefined): string[] =>
      (cache.jwks?.keys ?? [])
        .filter(({ kid }) => id === undefined || kid === id)
        .map((key): unknown => Reflect.get(key, 'issuer'))
        .filter((owner) => typeof owner === 'string'),
  })
}

const emptyCache = (): JWKSCacheInput => ({})

/** True if less than a time span has passed since `since`. False also if the clock was set back meanwhile. */
const isWithin = (spanMs: number, since: number): boolean => Date.now() >= since && Date.now() - since < spanMs
