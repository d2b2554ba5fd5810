import { createPrivateKey } from 'node:crypto'
import * as v from 'valibot'
import type { ObtainToken } from '../tokens.ts'
import { InventoryError } from '../types.ts'
import { obtainByLibrary } from './library.ts'
import { SCOPE, type TokenContext } from './token-exchange.ts'

export const ServiceAccountFile = v.object({
  type: v.literal('service_account'),
  client_email: v.pipe(v.string(), v.minLength(1)),
  private_key: v.pipe(v.string(), v.minLength(1)),
  private_key_id: v.optional(v.string()),
  token_uri: v.optional(v.string(), 'https://oauth2.googleapis.com/token'),
  universe_domain: v.optional(v.string()),
})
type File = v.InferOutput<typeof ServiceAccountFile>

const LIFETIME_MS = 3600 * 1000

/**
 * Exchanges an assertion that the key of the service account signs. Other universes have no such exchange, and the
 * assertion itself is the token there. https://developers.google.com/identity/protocols/oauth2/service-account
 */
export function serviceAccountToken({ request, universe }: TokenContext, file: File): ObtainToken {
  checkSigningKey(file.private_key)
  const account = {
    email: file.client_email,
    key: file.private_key,
    ...(file.private_key_id ? { keyId: file.private_key_id } : {}),
    scopes: [SCOPE],
  }
  if (universe !== undefined)
    return async () => {
      const { JWT } = await import('google-auth-library')
      const headers = await new JWT({ ...account, universeDomain: universe }).getRequestHeaders()
      const value = headers.get('authorization')?.replace(/^Bearer /, '') ?? ''
      return { value, expiresAt: request.now().getTime() + LIFETIME_MS }
    }
  return obtainByLibrary(
    {
      request,
      source: 'Google OAuth',
      url: file.token_uri,
      urlName: 'the token address of the Google credentials',
      secrets: [],
    },
    ({ JWT }, transporterOptions) =>
      new JWT({ ...account, additionalClaims: { aud: file.token_uri }, transporterOptions }),
  )
}

/** Refuses a key before the library does, because a message of the parser may quote a part of it. */
function checkSigningKey(pem: string): void {
  try {
    if (createPrivateKey(pem).asymmetricKeyType === 'rsa') return
  } catch {
    // The error below is all that is said.
  }
  throw new InventoryError('the private_key of the Google credentials is no RSA key')
}
