import { importFilter } from '../../../src/chains/import-filter.ts'
import type { Excluded } from '../../../src/plan/imports/unmanaged.ts'
import type { Kit } from '../../kit/kit.ts'
import { runChain } from '../../kit/run-chain.ts'
import type { Conventions } from '../shared/compose-prompts.ts'
import type { Discovery } from './discover.ts'

/** What a round is going to import. */
export interface Selection {
  ids: string[]
  excluded: Excluded[]
  /** Why the round imports nothing; null when it imports something. */
  ending: string | null
}

const NONE_MATCHED = 'No unmanaged resource matched the request.'
export const NOT_SELECTED = 'Not selected by the request.'

/** Selects every unmanaged resource, or in a partial round those that a model picks for the request. */
export async function selectResources(
  kit: Kit,
  discovery: Pick<Discovery, 'ids' | 'withheld'>,
  conventions: Conventions,
): Promise<Selection> {
  const { ids, withheld } = discovery
  const { round } = kit.run
  if (!round.is_partial) return { ids, excluded: withheld, ending: null }
  const selected = await runChain(kit, importFilter, {
    cloud: round.session.provider,
    request: round.query,
    unmanagedIds: ids,
    ...conventions,
  })
  const selectedIds = new Set(selected.ids)
  const others = ids
    .filter((id) => !selectedIds.has(id))
    .map((resourceId) => ({ resource_id: resourceId, details: NOT_SELECTED }))
  const none = selected.ids.length === 0 ? selected.explanation || NONE_MATCHED : null
  return { ids: selected.ids, excluded: [...withheld, ...others], ending: none }
}
