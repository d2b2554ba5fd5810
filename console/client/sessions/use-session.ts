import { type QueryClient, useQuery, useQueryClient } from '@tanstack/preact-query'
import { calls } from '../api/calls.ts'
import type { Api } from '../api/client.ts'
import { ApiError } from '../api/errors.ts'
import type { Round, Session, Status } from '../api/types.ts'
import { usePlatform } from '../platform.ts'
import { meQuery } from '../use-me.ts'

/** A session, and by which right it is read: as its owner, or through the panel. */
export interface ReadSession {
  session: Session
  is_own: boolean
}

const IDLE_MS = 10_000

export const sessionKey = (id: string) => ['session', id] as const

/**
 * One session with its rounds and conversation. Sessions of others are read through the panel by whoever has a role
 * there. `useLiveSession` keeps it up to date while a round runs.
 */
export function useSession(id: string) {
  const { api } = usePlatform()
  const client = useQueryClient()
  return useQuery({
    ...sessionQuery(api, client, id),
    // Somebody else may ask for the next round; while one runs, its stream tells every change.
    refetchInterval: ({ state }: { state: { data?: ReadSession } }) =>
      state.data?.session.in_flight ? false : IDLE_MS,
  })
}

export const sessionQuery = (api: Api, client: QueryClient, id: string) => ({
  queryKey: sessionKey(id),
  queryFn: ({ signal }: { signal: AbortSignal }) => readSession(api, client, id, signal),
})

async function readSession(api: Api, client: QueryClient, id: string, signal: AbortSignal): Promise<ReadSession> {
  const query = { id, include_history: true }
  try {
    return { session: await calls.getSession(api, { query, signal }), is_own: true }
  } catch (error) {
    const isForeign = error instanceof ApiError && (error.status === 403 || error.status === 404)
    if (!isForeign || (await client.ensureQueryData(meQuery(api))).panel_role === null) throw error
    return { session: await calls.getAnySession(api, { query, signal }), is_own: false }
  }
}

/** Answers a function that reads a session again, for example after something was asked of it. */
export function useRefreshSession(): (id: string) => Promise<void> {
  const client = useQueryClient()
  return (id) => refreshSession(client, id)
}

export const refreshSession = async (client: QueryClient, id: string): Promise<void> => {
  await Promise.all([
    client.invalidateQueries({ queryKey: sessionKey(id) }),
    client.invalidateQueries({ queryKey: ['sessions'] }),
  ])
}

const TERMINAL: readonly Status[] = ['completed', 'uncompleted', 'failed']
export const isTerminal = (status: Status): boolean => TERMINAL.includes(status)

/** The status that a round has now, null before it has any. */
export const lastStatus = (round: Round) => round.statuses.at(-1) ?? null

/** Whether the round is over. */
export const hasEnded = (round: Round): boolean => {
  const last = lastStatus(round)
  return last !== null && isTerminal(last.status)
}
