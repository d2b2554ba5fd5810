import { useCallback, useMemo } from 'preact/hooks'
import type { Action } from '../../client/api/schemas.ts'
import { useAnySearch, useSearchChange } from '../../client/use-address.ts'
import { type Graph, keyOf } from './graph-model.ts'

/** The number of resources above which a plan first shows only its changes. */
const LARGE = 60

/** The state of the graph, which is in the address so that it can be shared. */
export interface View {
  chosen: number | null
  action: Action | null
  changesOnly: boolean
  choose: (index: number | null) => void
  filter: (action: Action | null) => void
  showChangesOnly: (only: boolean) => void
}

export function useView(graph: Graph): View {
  const search = useAnySearch()
  const set = useSearchChange()
  const choose = useCallback(
    (index: number | null) => {
      const resource = index === null ? undefined : graph.resources[index]
      set({ resource: resource && keyOf(resource) })
    },
    [set, graph],
  )
  return useMemo(
    () => ({
      chosen: graph.byKey.get(String(search.resource ?? '')) ?? null,
      action: graph.resources.find(({ action }) => action === search.action)?.action ?? null,
      changesOnly: search.show === undefined ? graph.resources.length > LARGE : search.show === 'changes',
      choose,
      filter: (action) => set({ action: action ?? undefined }),
      showChangesOnly: (only) => set({ show: only ? 'changes' : 'all' }),
    }),
    [graph, search.resource, search.action, search.show, choose, set],
  )
}
