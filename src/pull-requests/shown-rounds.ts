import { maskedSecretsOf } from '../../config/mask.ts'
import { parseExactly } from '../base/json.ts'
import { createMasker, MASK } from '../base/masking.ts'
import type { Turn } from '../base/vocabulary.ts'
import type { Context } from '../context.ts'
import { readRoundResult } from '../rounds/round-result.ts'
import type { EvidenceRows, RoundRow } from './evidence/evidence.ts'

/** Masks rounds for use outside the platform: requests as in the conversation, results without configured secrets. */
export function maskRounds(config: Context['config'], { session, rounds }: EvidenceRows): RoundRow[] {
  const masker = createMasker(maskedSecretsOf(config))
  return rounds.map((round) => ({
    ...round,
    query: masker.text(maskFirstRequest(round.query, session.history)),
    ...(round.result && { result: readRoundResult(masker.json(parseExactly(JSON.stringify(round.result)))) }),
  }))
}

/** Masks the first request: the conversation's masked form if it is there, else the text as typed. */
export function maskFirstRequest(firstQuery: string, history: readonly Turn[]): string {
  const maskedTurn = history.find(({ user }) => user.includes(MASK) && isMaskedFormOf(user, firstQuery))
  return maskedTurn?.user ?? firstQuery
}

/** Reports whether masking parts of `text` gives `masked`. */
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
