import { MASK } from '../base/masking.ts'
import type { Turn } from '../base/vocabulary.ts'

/**
 * The first request as it may leave the platform: where the conversation keeps it with sensitive values
 * masked, in that form, else as it was typed.
 */
export function shownRequest(first_query: string, history: readonly Turn[]): string {
  const kept = history.find(({ user }) => user.includes(MASK) && isMaskedFormOf(user, first_query))
  return kept?.user ?? first_query
}

function isMaskedFormOf(masked: string, text: string): boolean {
  const parts = masked.split(MASK)
  const tail = parts.pop() ?? ''
  let reached = 0
  for (const [index, part] of parts.entries()) {
    const at = text.indexOf(part, reached)
    if (at < 0 || (index === 0 && at > 0)) return false
    reached = at + part.length
  }
  return text.length - tail.length >= reached && text.endsWith(tail)
}
