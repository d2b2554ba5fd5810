import { useQueryClient } from '@tanstack/preact-query'
import { calls } from '../../client/api/calls.ts'
import { usePlatform } from '../../client/platform.ts'
import { refreshSession } from '../../client/sessions/use-session.ts'

/** Answers a function that locks or unlocks a session. Its errors are those of the call. */
export function useSetLock(): (id: string, locked: boolean) => Promise<void> {
  const { api } = usePlatform()
  const client = useQueryClient()
  return async (id, locked) => {
    await calls.setLock(api, { params: { session_id: id }, body: { locked } })
    await refreshSession(client, id)
  }
}
