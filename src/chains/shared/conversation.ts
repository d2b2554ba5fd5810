import type { Turn } from '../../base/vocabulary.ts'
import { fence } from '../../prompts/fence.ts'

/**
 * Turns of earlier tasks as a model may see them: what was asked, by people or in words made from a plan, is data by
 * then. An empty side stays empty, because the loop leaves such a turn out.
 */
export const fenceEarlierTurns = (turns: readonly Turn[]): Turn[] =>
  turns.map(({ user, assistant }) => ({ user: user === '' ? '' : fence('earlier request', user), assistant }))
