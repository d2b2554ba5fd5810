import { importFilter } from '../../../src/chains/import-filter.ts'
import type { Excluded } from '../../../src/plan/imports/unmanaged.ts'
import type { Kit } from '../../kit/kit.ts'
import { runChain } from '../../kit/run-chain.ts'
import type { Conventions } from '../shared/compose-prompts.ts'
import type { Discovery, Ending } from './discover.ts'

/** What a round is going to import; with `ending` it imports nothing. */
export interface Selection {
  ids: string[]
  excluded: Excluded[]
  ending: Ending | null
}

const NONE_MATCHED = 'No unmanaged resource matched the request.'
export const NOT_SELECTED = 'Not selected by the request.'

/** Selects everything that is unmanaged, or in a partial round what a model selects from it for the request. */
export async function selectResources(kit: Kit, discovery: Discovery, conventions: Conventions): Promise<Selection> {
  const { ids, withheld, ending } = discovery
  const { round } = kit.run
  if (ending || !round.is_partial) return { ids: ending ? [] : ids, excluded: withheld, ending }
  const selected = await runChain(kit, importFilter, {
    cloud: round.session.provider,
    request: round.query,
    unmanagedIds: ids,
    ...conventions,
  })
  const chosen = new Set(selected.ids)
  const others = ids.filter((id) => !chosen.has(id)).map((resource_id) => ({ resource_id, details: NOT_SELECTED }))
  const none = selected.ids.length === 0 ? { text: selected.explanation || NONE_MATCHED, failed: false } : null
  return { ids: selected.ids, excluded: [...withheld, ...others], ending: none }
}
