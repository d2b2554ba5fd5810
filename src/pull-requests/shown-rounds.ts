import { secretsOf } from '../../config/mask.ts'
import { createMasker, MASK, type Masker } from '../base/masking.ts'
import type { Turn } from '../base/vocabulary.ts'
import type { Context } from '../context.ts'
import { type RoundResult, readRoundResult } from '../rounds/round-result.ts'
import type { EvidenceRows, RoundRow } from './evidence/evidence.ts'

/** Shorter values of the configuration are not masked, because they may be ordinary words. The same holds in rounds. */
const MIN_CONFIGURED_SECRET = 12

/** Masks the secrets of the configuration. */
export const createConfiguredMasker = (config: Context['config']): Masker =>
  createMasker(secretsOf(config).filter(({ length }) => length >= MIN_CONFIGURED_SECRET))

/**
 * The rounds of a session in the form that may leave the platform: requests as the conversation keeps them, and no
 * secret of the configuration in what the rounds built.
 */
export function maskRounds(config: Context['config'], { session, rounds }: EvidenceRows): RoundRow[] {
  const masker = createConfiguredMasker(config)
  return rounds.map((round) => ({
    ...round,
    query: masker.text(maskFirstRequest(round.query, session.history)),
    ...(round.result && { result: maskResult(round.result, masker) }),
  }))
}

const maskResult = (result: RoundResult, masker: Masker): RoundResult | null =>
  readRoundResult(masker.json(JSON.parse(JSON.stringify(result))))

/**
 * The first request in the form that may leave the platform. When the conversation holds the same request with
 * sensitive values masked, this is the masked text; otherwise it is the text as the user typed it.
 */
export function maskFirstRequest(firstQuery: string, history: readonly Turn[]): string {
  const maskedTurn = history.find(({ user }) => user.includes(MASK) && isMaskedFormOf(user, firstQuery))
  return maskedTurn?.user ?? firstQuery
}

/** Reports whether `text` becomes `masked` when some parts of it are replaced by the mask. */
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
