import { type QueryClient, useQueries, useQuery, useQueryClient } from '@tanstack/preact-query'
import { Unreachable } from '../api/errors.ts'
import type { PlanDocument, Round, Session } from '../api/schemas.ts'
import { parseJson } from '../json.ts'
import { type Platform, usePlatform } from '../platform.ts'
import { sessionKey } from './use-session.ts'

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

const TIMEOUT_MS = 60_000

/**
 * Reads an artifact by its presigned URL, without the token. Throws `LinkExpired`, `Unreachable` or `AbortError`.
 * @param prefix the prefix of metadata names in headers, from the sign-in configuration
 */
export async function readArtifact(url: string, prefix: string, signal: AbortSignal): Promise<Artifact> {
  const limit = AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)])
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
