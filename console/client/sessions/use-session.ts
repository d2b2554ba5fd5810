import { type QueryClient, useMutation, useQueries, useQuery, useQueryClient } from '@tanstack/preact-query'
import {
  type Api,
  ApiError,
  type AttemptResult,
  calls,
  type PlanDocument,
  ROUND_CALLS,
  type Round,
  type RoundBody,
  type Session,
  type Status,
  Unreachable,
} from '../api/client.ts'
import { parseJson } from '../json.ts'
import { meQuery, type Platform, usePlatform } from '../platform.ts'

/** A session and the right by which it is read: as its owner, or through the panel. */
export interface ReadSession {
  session: Session
  is_own: boolean
}

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
    refetchInterval: ({ state }: { state: { data?: ReadSession } }) => (state.data?.session.in_flight ? false : 10_000),
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

/** Reads a session and the lists of sessions again. */
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
  const client = useQueryClient()
  return useMutation({
    mutationFn: () => call(api, { body: { session_id: id } }),
    onSuccess,
    onSettled: () => refreshSession(client, id),
  })
}

const TERMINAL: readonly (Status | undefined)[] = ['completed', 'uncompleted', 'failed']

/** Returns the present status of a round, null before it has any. */
export const lastStatus = (round: Round) => round.statuses.at(-1) ?? null

export const hasEnded = (round: Round): boolean => TERMINAL.includes(lastStatus(round)?.status)

/** The tokens and US dollars of model calls. Null dollars: the price of a call is unknown. */
export interface Spend {
  tokens: number
  cost_usd: number | null
}

type Measured = Pick<AttemptResult, 'input_tokens' | 'output_tokens' | 'cost_usd'>

/** Returns the sum of rounds or attempts; null when there are none. */
export function sumSpend(parts: readonly Measured[]): Spend | null {
  if (parts.length === 0) return null
  const spend: Spend = { tokens: 0, cost_usd: 0 }
  for (const { input_tokens, output_tokens, cost_usd } of parts) {
    spend.tokens += (input_tokens ?? 0) + (output_tokens ?? 0)
    spend.cost_usd = spend.cost_usd === null || cost_usd === null ? null : spend.cost_usd + cost_usd
  }
  return spend
}

/** Returns the cost of a round; while it runs, that of its ended attempts. */
export const spendOf = ({ usage, attempts }: Round): Spend | null =>
  sumSpend(usage ? [usage] : attempts.filter(({ input_tokens }) => input_tokens !== null))

/** The number of recent sessions that are read for repository suggestions. */
const LOOKED_AT = 50

/** Reads the caller's own sessions, the last active first. */
export function useRecentSessions() {
  const { api } = usePlatform()
  return useQuery({
    queryKey: ['sessions', 'recent'],
    queryFn: async ({ signal }) =>
      (await calls.listSessions(api, { query: { page_size: LOOKED_AT, sort: 'last_activity' }, signal })).items,
    refetchInterval: ({ state }) => (state.data?.some(({ in_flight }) => in_flight) ? 5_000 : false),
  })
}

/** A further round of a session. `kind` only distinguishes the buttons, so that one of them shows that it is busy. */
export interface RoundRequest extends Omit<RoundBody, 'session_id' | 'resource_ids'> {
  resource_ids?: string[]
  mode: 'generate' | 'drift' | 'import'
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
      await ROUND_CALLS[mode](api, { body: { ...body, session_id: sessionId } })
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

export interface Artifact {
  text: string
  /** The metadata of the store by its short names: `type`, `new_file`. */
  metadata: Record<string, string>
}

/** A link that is no longer valid, or that the store refuses for another reason. */
export class LinkExpired extends Error {
  override name = 'LinkExpired'
  override message = 'The link to this document has expired.'
}

/**
 * Reads an artifact by its presigned URL, without the token. Throws `LinkExpired`, `Unreachable` or `AbortError`.
 * @param prefix the prefix of metadata names in headers, from the sign-in configuration
 */
export async function readArtifact(url: string, prefix: string, signal: AbortSignal): Promise<Artifact> {
  const limit = AbortSignal.any([signal, AbortSignal.timeout(60_000)])
  const reached = <T>(work: Promise<T>): Promise<T> =>
    work.catch((error: unknown) => {
      throw signal.aborted ? error : new Unreachable({ cause: error })
    })
  const response = await reached(fetch(url, { credentials: 'omit', referrerPolicy: 'no-referrer', signal: limit }))
  if (!response.ok) throw new LinkExpired()
  const metadata: Record<string, string> = {}
  for (const [name, value] of response.headers)
    if (name.startsWith(prefix)) metadata[name.slice(prefix.length).replaceAll('-', '_')] = value
  return { text: await reached(response.text()), metadata }
}

/** Reads a document by its presigned link, unless it is null. An expired link is renewed by reading the session. */
export const useArtifact = (sessionId: string, url: string | null) =>
  useQuery(artifactQuery(usePlatform().auth, useQueryClient(), sessionId, url))

/** Reads several documents, each with a state of its own. */
export function useArtifacts(sessionId: string, urls: readonly string[]) {
  const { auth } = usePlatform()
  const client = useQueryClient()
  return useQueries({ queries: urls.map((url) => artifactQuery(auth, client, sessionId, url)) })
}

/** Returns the query of a document; see `useArtifact`. */
const artifactQuery = (auth: Platform['auth'], client: QueryClient, sessionId: string, url: string | null) => ({
  queryKey: ['artifact', withoutSignature(url)],
  queryFn: async ({ signal }: { signal: AbortSignal }): Promise<Artifact> => {
    try {
      return await readArtifact(url ?? '', auth.artifact_metadata_header_prefix, signal)
    } catch (error) {
      if (!(error instanceof LinkExpired)) throw error
      const read = client.getQueryState(sessionKey(sessionId))
      await client.invalidateQueries({ queryKey: sessionKey(sessionId) }, { cancelRefetch: false })
      const fresh = findLink(client.getQueryData(sessionKey(sessionId)), withoutSignature(url))
      if (fresh === null || read === undefined) throw error
      return await readArtifact(fresh, auth.artifact_metadata_header_prefix, signal)
    }
  },
  enabled: url !== null,
  // Artifacts of a round never change.
  staleTime: Number.POSITIVE_INFINITY,
  retry: false,
})

/** Reads a document that is JSON. */
export function useJsonArtifact<T>(sessionId: string, url: string | null) {
  const artifact = useArtifact(sessionId, url)
  return { ...artifact, data: artifact.data && (parseOnce(artifact.data) as T | undefined) }
}

const parsed = new WeakMap<Artifact, unknown>()

function parseOnce(artifact: Artifact): unknown {
  if (!parsed.has(artifact)) parsed.set(artifact, parseJson(artifact.text))
  return parsed.get(artifact)
}

const withoutSignature = (url: string | null): string => url?.replace(/\?.*$/, '') ?? ''

/** Returns the link to the same object from anywhere in the data of a session. */
function findLink(value: unknown, object: string): string | null {
  if (typeof value === 'string') return withoutSignature(value) === object ? value : null
  if (typeof value !== 'object' || value === null) return null
  for (const inner of Object.values(value)) {
    const found = findLink(inner, object)
    if (found !== null) return found
  }
  return null
}

/** Returns true for a round with a plan that can be read as data. */
export const hasDocument = (round: Round): boolean => round.plans.some(({ document_url }) => document_url !== null)

/** Returns the link to the last readable plan of a round; null when there is none. */
export const lastDocument = (round: Round | null | undefined): string | null =>
  round?.plans.findLast(({ document_url }) => document_url !== null)?.document_url ?? null

/** Reads the last readable plan of a round: the one that was reviewed. */
export const usePlanDocument = (sessionId: string, round: Round | null) =>
  useJsonArtifact<PlanDocument>(sessionId, lastDocument(round))

/** Prefetches the plan of the newest round that has one, before a screen that shows it is drawn. */
export function askForPlan({ auth }: Platform, client: QueryClient, { uuid, rounds }: Session): void {
  const url = lastDocument(rounds.findLast(hasDocument))
  if (url !== null) void client.prefetchQuery(artifactQuery(auth, client, uuid, url))
}
