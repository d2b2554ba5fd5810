import { MASK } from '../base/masking.ts'
import type { Turn } from '../base/vocabulary.ts'

/**
 * The first request in the form that may leave the platform. When the conversation holds the same request with
 * sensitive values masked, this is the masked text; otherwise it is the text as the user typed it.
 */
export function maskFirstRequest(firstQuery: string, history: readonly Turn[]): string {
  const maskedTurn = history.find(({ user }) => user.includes(MASK) && isMaskedFormOf(user, firstQuery))
  return maskedTurn?.user ?? firstQuery
}

/** Whether `text` becomes `masked` when some parts of it are replaced by the mask. */
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
