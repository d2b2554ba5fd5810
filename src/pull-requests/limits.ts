import { type OutboundResponse, retryAfter } from '../base/http.ts'

/** GitHub asks for a minute where it does not say how long its secondary limits last. */
const SECONDARY_MS = 60_000
const SECONDARY = /secondary rate limit|secondary-rate-limits|abuse-rate-limits|abuse detection/i
const LIMITED = /rate limit exceeded/i

/** Values below this count seconds from now, as in drafts of the standard; the others are times of Unix. */
const OLDEST_TIME = 1_000_000_000

/**
 * Reads from a refusal that a git host limits requests, and when it takes the next: `Retry-After` (all), the reset of
 * an exhausted limit (`X-RateLimit-Reset` of GitHub and Azure DevOps, `RateLimit-Reset` of GitLab), or the rules of
 * GitHub about its secondary limits. A limited request was not carried out.
 * @returns milliseconds to wait, `unknown` when the host does not say, null for any other answer
 */
export function readLimit({ status, headers, text }: Pick<OutboundResponse, 'status' | 'headers' | 'text'>) {
  if (![403, 429, 503].includes(status)) return null
  const now = Date.parse(headers.get('date') ?? '') || Date.now()
  const told = retryAfter(headers, now)
  if (told !== null) return told
  if (status === 503) return null
  if (SECONDARY.test(text())) return SECONDARY_MS
  const remaining = headers.get('x-ratelimit-remaining') ?? headers.get('ratelimit-remaining')
  const isExhausted = remaining === '0' || LIMITED.test(text())
  if (status === 403 && !isExhausted) return null
  return untilReset(headers.get('x-ratelimit-reset') ?? headers.get('ratelimit-reset'), now) ?? 'unknown'
}

function untilReset(value: string | null, now: number): number | null {
  const seconds = Number(value ?? Number.NaN)
  if (!Number.isFinite(seconds) || seconds < 0) return null
  return Math.max(seconds < OLDEST_TIME ? seconds * 1_000 : seconds * 1_000 - now, 0)
}

/** Says when to come back, for example `in 90 seconds` or `in 12 minutes`. */
export const whenText = (seconds: number): string =>
  seconds < 120 ? `in ${seconds} seconds` : `in ${Math.ceil(seconds / 60)} minutes`
