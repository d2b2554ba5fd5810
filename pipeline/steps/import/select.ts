import { importFilter } from '../../../src/chains/import-filter.ts'
import { identityOf } from '../../../src/plan/imports/identifiers.ts'
import type { Excluded } from '../../../src/plan/imports/inventory.ts'
import type { Failure } from '../../../src/plan/imports/pairs.ts'
import type { Kit } from '../../kit/kit.ts'
import { runChain } from '../../kit/run-chain.ts'
import type { Conventions } from '../shared/compose-prompts.ts'
import type { Discovery } from './discover.ts'

export interface Selection {
  ids: string[]
  excluded: Excluded[]
  /** Chosen from a preview, but no longer in the scope. */
  missing: Failure[]
  /** The reason why the round imports nothing; null when it imports something. */
  ending: string | null
}

const NONE_MATCHED = 'No unmanaged resource matched the request.'
export const NOT_SELECTED = 'Not selected by the request.'

const GONE = 'The scope does not list it any more.'
const MANAGED_SINCE = 'Managed since the preview.'
const NONE_LEFT = 'None of the chosen resources can be imported any more.'

/** Selects the choice from a preview, else in a partial round those that a model picks, else all unmanaged. */
export async function selectResources(
  kit: Kit,
  discovery: Pick<Discovery, 'scope' | 'ids' | 'withheld'>,
  conventions: Conventions,
): Promise<Selection> {
  const { ids, withheld } = discovery
  const { round } = kit.run
  if (round.resource_ids) return selectChosen(kit, discovery, round.resource_ids)
  if (!round.is_partial) return { ids, excluded: withheld, missing: [], ending: null }
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
  return { ids: selected.ids, excluded: [...withheld, ...others], missing: [], ending: none }
}

/** Selects the resources chosen from a preview that still exist and are still unmanaged. */
export function selectChosen(
  { run }: Kit,
  { scope, ids, withheld }: Pick<Discovery, 'scope' | 'ids' | 'withheld'>,
  chosen: readonly string[],
): Selection {
  const identity = identityOf(run.round.session.provider)
  const wanted = new Map(chosen.map((id) => [identity(id), id]))
  const known = (list: readonly string[]) => new Set(list.map(identity))
  const [listed, open] = [known(scope), known([...ids, ...withheld.map(({ resource_id }) => resource_id)])]
  const entries = [...wanted]
  const selected = ids.filter((id) => wanted.has(identity(id)))
  const managed = entries.filter(([key]) => listed.has(key) && !open.has(key))
  const others = ids.filter((id) => !wanted.has(identity(id)))
  return {
    ids: selected,
    excluded: [
      ...withheld,
      ...managed.map(([, id]) => ({ resource_id: id, details: MANAGED_SINCE })),
      ...others.map((id) => ({ resource_id: id, details: NOT_SELECTED })),
    ],
    missing: entries
      .filter(([key]) => !listed.has(key))
      .map(([, id]) => ({ address: '', resource_id: id, error: GONE })),
    ending: selected.length === 0 ? NONE_LEFT : null,
  }
}
