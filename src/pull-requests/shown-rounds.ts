import { secretsOf } from '../../config/mask.ts'
import { createMasker, type Masker } from '../base/masking.ts'
import type { Context } from '../context.ts'
import { type RoundResult, readRoundResult } from '../rounds/round-result.ts'
import type { EvidenceRows, RoundRow } from './evidence/types.ts'
import { maskFirstRequest } from './shown-request.ts'

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
