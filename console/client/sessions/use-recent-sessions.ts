import { useQuery } from '@tanstack/preact-query'
import { calls } from '../api/calls.ts'
import { usePlatform } from '../platform.ts'

/** How many sessions are looked at for the repositories that somebody used lately. */
const LOOKED_AT = 50
const WHILE_ONE_RUNS_MS = 5_000

/** The caller's own sessions in which something happened last, the newest first. */
export function useRecentSessions() {
  const { api } = usePlatform()
  return useQuery({
    queryKey: ['sessions', 'recent'],
    queryFn: async ({ signal }) =>
      (await calls.listSessions(api, { query: { page_size: LOOKED_AT, sort: 'last_activity' }, signal })).items,
    refetchInterval: ({ state }) => (state.data?.some(({ in_flight }) => in_flight) ? WHILE_ONE_RUNS_MS : false),
  })
}
