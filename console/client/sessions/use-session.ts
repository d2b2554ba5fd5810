import { type QueryClient, useMutation, useQuery, useQueryClient } from '@tanstack/preact-query'
import { calls } from '../api/calls.ts'
import type { Api } from '../api/client.ts'
import { ApiError } from '../api/errors.ts'
import type { Round, RoundBody, Session, Status } from '../api/schemas.ts'
import { usePlatform } from '../platform.ts'
import { meQuery } from '../use-me.ts'

/** A session and the right by which it is read: as its owner, or through the panel. */
export interface ReadSession {
  session: Session
  is_own: boolean
}

const IDLE_MS = 10_000

export const sessionKey = (id: string) => ['session', id] as const

/**
 * Reads a session with its rounds and conversation, through the panel if it belongs to another user and the reader has a
 * role there. `useLiveSession` keeps it current while a round runs.
 */
export function useSession(id: string) {
  const { api } = usePlatform()
  const client = useQueryClient()
  return useQuery({
    ...sessionQuery(api, client, id),
    // Another user may request the next round; while one runs, its stream reports every change.
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

/** Returns a function that reads a session again. */
export function useRefreshSession() {
  const client = useQueryClient()
  return (id: string) => refreshSession(client, id)
}

export async function refreshSession(client: QueryClient, id: string): Promise<void> {
  await Promise.all([sessionKey(id), ['sessions']].map((queryKey) => client.invalidateQueries({ queryKey })))
}

/** Returns the mutation of a call that concerns one session, which is read again afterwards. */
export function useSessionCall<Answer>(
  id: string,
  call: (api: Api, request: { body: { session_id: string } }) => Promise<Answer>,
  onSuccess?: () => void,
) {
  const { api } = usePlatform()
  const refresh = useRefreshSession()
  return useMutation({
    mutationFn: () => call(api, { body: { session_id: id } }),
    onSuccess,
    onSettled: () => refresh(id),
  })
}

const TERMINAL: readonly (Status | undefined)[] = ['completed', 'uncompleted', 'failed']

/** Returns the present status of a round, null before it has any. */
export const lastStatus = (round: Round) => round.statuses.at(-1) ?? null

export const hasEnded = (round: Round): boolean => TERMINAL.includes(lastStatus(round)?.status)

/** The number of recent sessions that are read for repository suggestions. */
const LOOKED_AT = 50
const WHILE_ONE_RUNS_MS = 5_000

/** Reads the caller's own sessions, the last active first. */
export function useRecentSessions() {
  const { api } = usePlatform()
  return useQuery({
    queryKey: ['sessions', 'recent'],
    queryFn: async ({ signal }) =>
      (await calls.listSessions(api, { query: { page_size: LOOKED_AT, sort: 'last_activity' }, signal })).items,
    refetchInterval: ({ state }) => (state.data?.some(({ in_flight }) => in_flight) ? WHILE_ONE_RUNS_MS : false),
  })
}

/** A further round of a session. `kind` only distinguishes the buttons, so that one of them shows that it is busy. */
export interface RoundRequest extends Omit<RoundBody, 'session_id' | 'resource_ids'> {
  resource_ids?: string[]
  mode: 'drift' | 'import'
  kind: string
}

/**
 * Requests a further round. The result is its number; null if the platform accepted the request but started none, as it
 * does while another round runs and after one that failed.
 */
export function useRoundRequest(sessionId: string) {
  const { api } = usePlatform()
  const client = useQueryClient()
  return useMutation({
    mutationFn: async ({ mode, kind: _, ...body }: RoundRequest): Promise<number | null> => {
      const known = lastNumber(client.getQueryData(sessionKey(sessionId)))
      const call = mode === 'drift' ? calls.drift : calls.importResources
      await call(api, { body: { ...body, session_id: sessionId } })
      await refreshSession(client, sessionId)
      const number = lastNumber(client.getQueryData(sessionKey(sessionId)))
      return number > known ? number : null
    },
  })
}

const lastNumber = (read: ReadSession | undefined): number => read?.session.rounds.at(-1)?.number ?? 0

/** Returns the reason why no further round can be requested; null when one can. */
export function whyNoRound({ session, is_own }: ReadSession): string | null {
  if (!is_own) return 'Only the owner of this session can request rounds.'
  if (session.current_status === 'failed') return 'The last round failed, which ends this session. Open a new one.'
  if (session.in_flight) return 'A round of this session is running. Wait for it to end, or stop it.'
  return null
}
