import { createPrivateKey } from 'node:crypto'
import { SignJWT } from 'jose'
import * as v from 'valibot'
import type { ObtainToken } from '../tokens.ts'
import { InventoryError } from '../types.ts'
import { exchangeToken, SCOPE, type TokenContext } from './token-exchange.ts'

export const ServiceAccountFile = v.object({
  type: v.literal('service_account'),
  client_email: v.pipe(v.string(), v.minLength(1)),
  private_key: v.pipe(v.string(), v.minLength(1)),
  private_key_id: v.optional(v.string()),
  token_uri: v.optional(v.string(), 'https://oauth2.googleapis.com/token'),
  universe_domain: v.optional(v.string()),
})

const LIFETIME_S = 3600

/**
 * Exchanges an assertion that the key of the service account signs. Other universes have no such exchange, and the
 * assertion itself is the token there. https://developers.google.com/identity/protocols/oauth2/service-account
 */
export function serviceAccountToken(
  { request, universe }: TokenContext,
  file: v.InferOutput<typeof ServiceAccountFile>,
): ObtainToken {
  const key = parseSigningKey(file.private_key)
  const sign = async (claims: Record<string, string>) => {
    const now = Math.floor(request.now().getTime() / 1000)
    return new SignJWT({ ...claims, scope: SCOPE })
      .setProtectedHeader({ alg: 'RS256', typ: 'JWT', ...(file.private_key_id ? { kid: file.private_key_id } : {}) })
      .setIssuer(file.client_email)
      .setIssuedAt(now)
      .setExpirationTime(now + LIFETIME_S)
      .sign(key)
  }
  return async () => {
    if (universe !== undefined) {
      const value = await sign({ sub: file.client_email })
      return { value, expiresAt: request.now().getTime() + LIFETIME_S * 1000 }
    }
    return exchangeToken({
      request,
      source: 'Google OAuth',
      url: file.token_uri,
      form: {
        grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
        assertion: await sign({ aud: file.token_uri }),
      },
      secretFields: ['assertion'],
    })
  }
}

function parseSigningKey(pem: string) {
  try {
    const key = createPrivateKey(pem)
    if (key.asymmetricKeyType === 'rsa') return key
  } catch {
    // The error below is all that is said: a message of the parser may quote a part of the key.
  }
  throw new InventoryError('the private_key of the Google credentials is no RSA key')
}
