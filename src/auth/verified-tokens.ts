import type { JWTPayload } from 'jose'

const MAX_TOKENS = 2_000
const MAX_REMEMBERED_LENGTH = 4_096

interface Entry<Claims> {
  claims: Claims
  /** The key set under which the signature was checked. */
  keys: object
  verified_at: number
}

/**
 * Remembers tokens whose signature was checked, so that the next request with the same token is spared
 * the check. What passes is the same as without it: a token is found only while the very key set that
 * verified it is in use, until it expires, and not before the moment at which it was verified.
 * @param now milliseconds
 */
export function createVerifiedTokens<Claims extends JWTPayload>(now: () => number, tolerance_s: number) {
  const known = new Map<string, Entry<Claims>>()
  return {
    /** @param keys the key set in use; null when it has to be read again */
    find(token: string, keys: object | null): Claims | null {
      const entry = known.get(token)
      if (!entry) return null
      const expires_ms = ((entry.claims.exp ?? 0) + tolerance_s) * 1000
      if (entry.keys === keys && now() >= entry.verified_at && now() < expires_ms) return entry.claims
      known.delete(token)
      return null
    },
    /** @param keys those in use before and after the check */
    add(token: string, claims: Claims, keys: { before: object | null; after: object | null }): void {
      if (keys.before === null || keys.before !== keys.after || token.length > MAX_REMEMBERED_LENGTH) return
      if (known.size >= MAX_TOKENS)
        for (const oldest of known.keys()) {
          known.delete(oldest)
          break
        }
      known.set(token, { claims, keys: keys.before, verified_at: now() })
    },
  }
}
