import * as v from 'valibot'
import type { InventoryRequest } from './types.ts'

export interface Expiring<Value> {
  value: Value
  /** Milliseconds since 1970. */
  expiresAt: number
}

export type AccessToken = Expiring<string>
export type ObtainToken = () => Promise<AccessToken>
export type TokenSource = () => Promise<string>

const EARLY_MS = 5 * 60_000

/** Keeps a token in memory for one discovery, and renews it five minutes before it expires. */
export function keepToken<Value>(
  request: InventoryRequest,
  obtain: () => Promise<Expiring<Value>>,
): () => Promise<Value> {
  let held: Expiring<Value> | null = null
  return async () => {
    if (held === null || held.expiresAt - EARLY_MS <= request.now().getTime()) held = await obtain()
    return held.value
  }
}

/** A text that is valid in an `Authorization` header. */
export const tokenText = v.pipe(v.string(), v.regex(/^[\x21-\x7e]+$/))

/** The answer of a token endpoint (RFC 6749, section 5.1). Some write the lifetime, in seconds, as text. */
export const tokenAnswer = v.object({
  access_token: tokenText,
  expires_in: v.optional(v.union([v.number(), v.pipe(v.string(), v.regex(/^\d{1,9}$/), v.transform(Number))])),
})

const DEFAULT_LIFETIME_S = 3600

export function asAccessToken(answer: v.InferOutput<typeof tokenAnswer>, request: InventoryRequest): AccessToken {
  const lifetime = answer.expires_in ?? DEFAULT_LIFETIME_S
  return { value: answer.access_token, expiresAt: request.now().getTime() + lifetime * 1000 }
}
