import { useMutation, useQueryClient } from '@tanstack/preact-query'
import { calls } from '../api/calls.ts'
import type { RoundBody } from '../api/types.ts'
import { usePlatform } from '../platform.ts'
import { type ReadSession, refreshSession, sessionKey } from './use-session.ts'

/** A further round of a session. `kind` only tells the buttons apart, so that one of them shows that it is busy. */
export interface RoundWish extends Omit<RoundBody, 'session_id' | 'resource_ids'> {
  resource_ids?: string[]
  mode: 'drift' | 'import'
  kind: string
}

/**
 * Asks for a further round of a session. The answer is its number; null when the platform took the request and began
 * none, as it does while another round runs and after one that failed.
 */
export function useRoundRequest(sessionId: string) {
  const { api } = usePlatform()
  const client = useQueryClient()
  return useMutation({
    mutationFn: async ({ mode, kind: _, ...wish }: RoundWish): Promise<number | null> => {
      const known = lastNumber(client.getQueryData(sessionKey(sessionId)))
      const call = mode === 'drift' ? calls.drift : calls.importResources
      await call(api, { body: { ...wish, session_id: sessionId } })
      await refreshSession(client, sessionId)
      const number = lastNumber(client.getQueryData(sessionKey(sessionId)))
      return number > known ? number : null
    },
  })
}

const lastNumber = (read: ReadSession | undefined): number => read?.session.rounds.at(-1)?.number ?? 0

/** Why no further round can be asked for; null when one can. */
export function whyNoRound({ session, is_own }: ReadSession): string | null {
  if (!is_own) return 'Only the owner of this session can ask for more.'
  if (session.current_status === 'failed') return 'The last round failed, which ends this session. Open a new one.'
  if (session.in_flight) return 'A round runs in this session. Wait for its end, or stop it.'
  return null
}
