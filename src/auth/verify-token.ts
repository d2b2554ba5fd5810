import { createRemoteJWKSet, customFetch, decodeProtectedHeader, errors, type JWTPayload, jwtVerify, type RemoteJWKSet } from 'jose'
import type { OidcConfig } from '../../config/types.ts'
import { type Fetch, send } from '../http/outbound.ts'
import { discoverKeySet } from './discovery.ts'
import { invalidToken } from './errors.ts'
import { reasonOf } from './reasons.ts'

/** Asymmetric signatures only: a public key must never serve as a shared secret. */
export const ALGORITHMS = ['RS256', 'RS384', 'RS512', 'ES256', 'ES384', 'ES512', 'PS256', 'PS384', 'PS512']
const KEY_SET_AGE_MS = 300_000
const KEY_SET_COOLDOWN_MS = 10_000
const KEY_SET_TIMEOUT_MS = 10_000

/** Claims of a token that passed every check. */
export type VerifyToken = (token: string) => Promise<JWTPayload & { iss: string; sub: string }>

/**
 * Verifies signature, issuer, audience and times of a bearer token against the key set of the
 * configured issuer, which is discovered on first use.
 * Errors: `Unauthorized`, also when the issuer cannot be reached.
 */
export function createTokenVerifier(oidc: OidcConfig, dependencies: { fetch: Fetch; now: () => Date }): VerifyToken {
  const keys = lazyKeySet(oidc.issuer_url, dependencies.fetch)
  return async (token) => {
    try {
      refuseForeignAlgorithm(token)
      const payload = await verify(token, await keys(), oidc, dependencies.now())
      checkIssuedAt(payload, oidc, dependencies.now())
      const { iss, sub } = payload
      if (typeof iss !== 'string' || typeof sub !== 'string' || sub === '') throw invalidToken('claim sub is missing')
      return { ...payload, iss, sub }
    } catch (error) {
      throw reasonOf(error)
    }
  }
}

/** Before any request leaves for the issuer: garbage must not cost it a call. */
function refuseForeignAlgorithm(token: string): void {
  let algorithm: unknown
  try {
    algorithm = decodeProtectedHeader(token).alg
  } catch (error) {
    throw invalidToken('token is malformed', error)
  }
  if (typeof algorithm !== 'string' || !ALGORITHMS.includes(algorithm)) throw invalidToken('algorithm is not allowed')
}

async function verify(token: string, keys: RemoteJWKSet, oidc: OidcConfig, now: Date): Promise<JWTPayload> {
  const options = {
    algorithms: ALGORITHMS,
    issuer: [oidc.issuer_url, `${oidc.issuer_url}/`],
    audience: oidc.audience ? [oidc.audience] : [oidc.client_id, `api://${oidc.client_id}`],
    clockTolerance: oidc.clock_skew_seconds,
    requiredClaims: ['exp', 'iss', 'sub'],
    currentDate: now,
  }
  try {
    return (await jwtVerify(token, keys, options)).payload
  } catch (error) {
    if (!(error instanceof errors.JWKSMultipleMatchingKeys)) throw error
    for await (const key of error) {
      const verified = await jwtVerify(token, key, options).catch((failure: unknown) => {
        if (failure instanceof errors.JWSSignatureVerificationFailed) return null
        throw failure
      })
      if (verified) return verified.payload
    }
    throw new errors.JWSSignatureVerificationFailed()
  }
}

function checkIssuedAt(payload: JWTPayload, oidc: OidcConfig, now: Date): void {
  if (payload.iat !== undefined && payload.iat > now.getTime() / 1000 + oidc.clock_skew_seconds)
    throw invalidToken('token was issued in the future')
}

function lazyKeySet(issuer: string, fetcher: Fetch): () => Promise<RemoteJWKSet> {
  const discover = discoverKeySet(issuer, fetcher)
  let keys: RemoteJWKSet | null = null
  return async () => {
    const url = await discover()
    keys ??= createRemoteJWKSet(url, {
      cacheMaxAge: KEY_SET_AGE_MS,
      cooldownDuration: KEY_SET_COOLDOWN_MS,
      timeoutDuration: KEY_SET_TIMEOUT_MS,
      [customFetch]: async (target, { headers, signal }) => {
        const answer = await send(fetcher, {
          url: target,
          headers: Object.fromEntries(headers),
          timeout_ms: KEY_SET_TIMEOUT_MS,
          signal,
          max_bytes: 4 * 1024 * 1024,
        })
        return new Response(answer.body, { status: answer.status })
      },
    })
    return keys
  }
}
