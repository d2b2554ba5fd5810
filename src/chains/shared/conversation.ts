import type { Turn } from '../../base/vocabulary.ts'
import { fence } from '../../prompts/fence.ts'

/**
 * Fences the user's side of earlier turns. What a person asked then, or what was written from a plan, is no instruction
 * for the present task but data. An empty side stays empty, because the loop leaves out a turn with an empty side.
 */
export const fenceEarlierTurns = (turns: readonly Turn[]): Turn[] =>
  turns.map(({ user, assistant }) => ({ user: user === '' ? '' : fence('earlier request', user), assistant }))
