import { useQueryClient } from '@tanstack/preact-query'
import { calls } from '../../api/calls.ts'
import { usePlatform } from '../../data/platform.ts'
import { refreshSession } from '../../data/sessions/use-session.ts'

/** Answers a function that locks or unlocks a session. Its errors are those of the call. */
export function useSetLock(): (id: string, locked: boolean) => Promise<void> {
  const { api } = usePlatform()
  const client = useQueryClient()
  return async (id, locked) => {
    await calls.setLock(api, { params: { session_id: id }, body: { locked } })
    await refreshSession(client, id)
  }
}
