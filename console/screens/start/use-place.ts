import { useQuery } from '@tanstack/preact-query'
import { useEffect, useState } from 'preact/hooks'
import { calls } from '../../client/api/calls.ts'
import { usePlatform } from '../../client/platform.ts'
import { useRecentSessions } from '../../client/sessions/use-session.ts'
import { type Fields, type FormInput, fillIn, lastOn, readAddress, repositoriesOf, rootOf } from './form.ts'

/** The options of a query with a long-lived answer and no retries. */
const ASKED_ONCE = { retry: false, staleTime: 300_000 } as const

/** Returns the form: typed values, completed from the mapping of the repository or the last session there. */
export function usePlace(input: FormInput) {
  const recent = useRecentSessions()
  const sessions = recent.data ?? []
  const repositories = repositoriesOf(sessions)
  const uri = (input.repo_uri ?? repositories[0] ?? '').trim()
  const address = readAddress(uri)
  const asked = useDebounced(uri)
  const enabled = address === 'complete' && asked === uri
  const roots = useRoots(uri, enabled)
  const mapping = useMapping(uri, enabled)
  const last = address === 'complete' ? lastOn(sessions, uri, input.iac_path) : null
  const lastScope = useScopeOf(last?.uuid ?? null, enabled && mapping.isFetched && !mapping.data?.scope_id)
  const known = {
    repo_uri: repositories[0] ?? '',
    iac_path: knownRoot(roots.data, last?.workspace.root_path),
    engine_providers: mapping.data?.engine_provider ?? (mapping.isFetched ? (last?.provider ?? '') : ''),
    scope_id: mapping.data?.scope_id ?? lastScope.data ?? '',
  }
  const fields = fillIn({ q: '', mode: 'generate', ...known }, input)
  const decision = useDecision(fields, enabled)
  return { fields, known, repositories, address, roots, mapping, decision, hasSessions: sessions.length > 0, recent }
}

export type Place = ReturnType<typeof usePlace>

/** Returns the only root that was found, otherwise the one of the last session there. */
const knownRoot = (roots: string[] | undefined, last: string | null | undefined): string =>
  roots?.length === 1 ? rootOf(roots[0] ?? '') : (last ?? '')

function useRoots(repo_uri: string, enabled: boolean) {
  const { api } = usePlatform()
  return useQuery({
    queryKey: ['roots', repo_uri],
    queryFn: async ({ signal }) => (await calls.parseRepository(api, { body: { repo_uri }, signal })).roots,
    enabled,
    ...ASKED_ONCE,
  })
}

function useMapping(identifier: string, enabled: boolean) {
  const { api } = usePlatform()
  return useQuery({
    queryKey: ['mapping', identifier],
    queryFn: ({ signal }) => calls.resolveMapping(api, { body: { identifier }, signal }),
    enabled,
    ...ASKED_ONCE,
  })
}

/** Returns the scope of a session, which lists do not show. */
function useScopeOf(id: string | null, enabled: boolean) {
  const { api } = usePlatform()
  return useQuery({
    queryKey: ['scope-of', id],
    queryFn: async ({ signal }) => (await calls.getSession(api, { query: { id: id ?? '' }, signal })).scope_id,
    enabled: enabled && id !== null,
    ...ASKED_ONCE,
  })
}

function useDecision({ repo_uri, engine_providers, iac_path }: Fields, enabled: boolean) {
  const { api } = usePlatform()
  const project_name = repo_uri.trim()
  const environment = rootOf(iac_path)
  const settled = useDebounced(environment) === environment
  return useQuery({
    queryKey: ['authorize', project_name, engine_providers, environment],
    queryFn: ({ signal }) =>
      calls.authorize(api, { body: { cloud: engine_providers, project_name, environment }, signal }),
    enabled: enabled && settled && engine_providers !== '',
    retry: false,
    staleTime: 60_000,
  })
}

/** Returns a value once it has not changed for `ms`, so that not every key causes a request. */
function useDebounced(value: string, ms = 400): string {
  const [settled, setSettled] = useState(value)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), ms)
    return () => clearTimeout(timer)
  }, [value, ms])
  return settled
}
