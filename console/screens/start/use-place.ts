import { useQuery } from '@tanstack/preact-query'
import { useEffect, useState } from 'preact/hooks'
import { type Api, calls } from '../../client/api/client.ts'
import { usePlatform } from '../../client/platform.ts'
import { useRecentSessions } from '../../client/sessions/use-session.ts'
import { type Fields, type FormInput, fillIn, lastOn, onlyRoot, readAddress, repositoriesOf, rootOf } from './form.ts'

/** Returns the form: typed values, completed from the mapping of the repository or the last session there. */
export function usePlace(input: FormInput) {
  const recent = useRecentSessions()
  const sessions = recent.data ?? []
  const repositories = repositoriesOf(sessions)
  const uri = (input.repo_uri ?? repositories[0] ?? '').trim()
  const address = readAddress(uri)
  const asked = useDebounced(uri)
  const enabled = address === 'complete' && asked === uri
  const roots = useAsked(['roots', uri], enabled, (api, signal) =>
    calls.parseRepository(api, { body: { repo_uri: uri }, signal }),
  )
  const mapping = useAsked(['mapping', uri], enabled, (api, signal) =>
    calls.resolveMapping(api, { body: { identifier: uri }, signal }),
  )
  const last = address === 'complete' ? lastOn(sessions, uri, input.iac_path) : null
  const id = last?.uuid ?? ''
  // Lists do not show the scope.
  const lastScope = useAsked(
    ['scope-of', id],
    enabled && id !== '' && mapping.isFetched && !mapping.data?.scope_id,
    async (api, signal) => (await calls.getSession(api, { query: { id }, signal })).scope_id,
  )
  const known = {
    repo_uri: repositories[0] ?? '',
    iac_path: onlyRoot(roots.data) ?? last?.workspace.root_path ?? '',
    engine_providers: mapping.data?.engine_provider ?? (mapping.isFetched ? (last?.provider ?? '') : ''),
    scope_id: mapping.data?.scope_id ?? lastScope.data ?? '',
  }
  const fields = fillIn({ q: '', mode: 'generate', ...known }, input)
  const decision = useDecision(fields, enabled)
  return { fields, known, repositories, address, roots, mapping, decision, hasSessions: sessions.length > 0, recent }
}

export type Place = ReturnType<typeof usePlace>

/** Asks something about a place, once: the answer is kept, and a failure is not tried again. */
function useAsked<Answer>(
  key: readonly unknown[],
  enabled: boolean,
  ask: (api: Api, signal: AbortSignal) => Promise<Answer>,
  staleTime = 300_000,
) {
  const { api } = usePlatform()
  return useQuery({ queryKey: key, queryFn: ({ signal }) => ask(api, signal), enabled, retry: false, staleTime })
}

function useDecision({ repo_uri, engine_providers, iac_path }: Fields, enabled: boolean) {
  const project_name = repo_uri.trim()
  const environment = rootOf(iac_path)
  const settled = useDebounced(environment) === environment
  const body = { cloud: engine_providers, project_name, environment }
  return useAsked(
    ['authorize', body],
    enabled && settled && engine_providers !== '',
    (api, signal) => calls.authorize(api, { body, signal }),
    60_000,
  )
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
