import { decomposedOperationsTool } from '../../../src/agent/sentinels/decomposed-operations.ts'
import { identity } from '../../../src/plan/imports/identifiers.ts'
import type { Excluded } from '../../../src/plan/imports/unmanaged.ts'
import { importFilterLayout } from '../../../src/prompts/layouts/import.ts'
import { earlierTurns, importSelectionQuery } from '../../../src/prompts/queries.ts'
import { type Kit, runChain } from '../../kit/kit.ts'
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

/** All that is unmanaged, or in a partial round what a model selects from it for the request. */
export async function selectResources(kit: Kit, found: Discovery, conventions: Conventions): Promise<Selection> {
  const { ids, withheld, ending } = found
  if (ending || !kit.run.round.is_partial) return { ids: ending ? [] : ids, excluded: withheld, ending }
  const { selected, explanation } = await askFilter(kit, ids, conventions)
  const chosen = new Set(selected)
  const others = ids.filter((id) => !chosen.has(id)).map((resource_id) => ({ resource_id, details: NOT_SELECTED }))
  const none =
    selected.length === 0 ? { text: kit.secrets.text(explanation.trim()) || NONE_MATCHED, failed: false } : null
  return { ids: selected, excluded: [...withheld, ...others], ending: none }
}

/** Identifiers outside of the list are dropped; the rest keeps the order of the list. */
async function askFilter(
  kit: Kit,
  ids: readonly string[],
  { templates, abbreviations }: Conventions,
): Promise<{ selected: string[]; explanation: string }> {
  const { run } = kit
  const { operations, explanation } = await runChain(kit, {
    chain: 'IMPORT_FILTER',
    role: 'small',
    system: importFilterLayout({ unmanaged_ids: ids, templates, abbreviations }),
    query: importSelectionQuery(run.round.query),
    conversation: earlierTurns(run.conversation),
    resultTool: decomposedOperationsTool(),
  })
  const same = identity(run.round.session.provider)
  const named = new Set(operations.map((operation) => same(withoutQuotes(operation))))
  const selected = ids.filter((id) => named.has(same(id)))
  if (selected.length < named.size)
    run.log.warn('the import filter named identifiers that are not unmanaged', {
      named: named.size,
      known: selected.length,
    })
  return { selected, explanation }
}

const withoutQuotes = (text: string) => text.trim().replace(/^`(.*)`$/, '$1')
