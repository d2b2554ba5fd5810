import { itemsOf, memberOf } from '../../base/json.ts'
import { actionOf } from '../actions.ts'
import type { ResourceChange } from '../plan.ts'
import { MAX_DEPENDENCIES } from './limits.ts'
import type { DocumentReplacement, DocumentResource, DocumentSummary } from './plan-document.ts'
import type { Display } from './shown.ts'

/** Returns the reasons for a replacement and its order; null for any other action. */
export function replacementOf({ mode, change }: ResourceChange, display: Display): DocumentReplacement | null {
  const { actions, replace_paths } = change
  if (mode === 'data' || actionOf(actions) !== 'replace') return null
  const keepsOld = actions.includes('forget') && !actions.includes('delete')
  const isStep = (step: unknown) => typeof step === 'string' || typeof step === 'number'
  return {
    order:
      actions.indexOf('create') < actions.indexOf(keepsOld ? 'forget' : 'delete') ? 'create_first' : 'delete_first',
    keeps_old: keepsOld,
    reasons: itemsOf(replace_paths)
      .slice(0, MAX_DEPENDENCIES)
      .map((path) => ({ path: display.path(itemsOf(path).filter(isStep) as (string | number)[]) }))
      .filter(({ path }) => path.length > 0),
  }
}

const MAX_ID = 300

/** Returns the import; its identifier is null when it is empty, too long or would need masking. */
export function importOf({ change }: ResourceChange, display: Display): DocumentResource['import'] {
  if (!change.importing) return null
  const id = memberOf(change.importing, 'id')
  const isShown = typeof id === 'string' && id !== '' && id.length <= MAX_ID && display.text(id) === id
  return { id: isShown ? id : null }
}

export const emptySummary = (): DocumentSummary => ({
  create: 0,
  update: 0,
  replace: 0,
  delete: 0,
  read: 0,
  import: 0,
  move: 0,
  forget: 0,
  none: 0,
})

/** Counts a resource by action and, in addition, as imported and as moved. */
export function countResource(summary: DocumentSummary, { action, import: imported, moved_from }: DocumentResource) {
  if (action !== 'import' && action !== 'move') summary[action]++
  if (imported !== null) summary.import++
  if (moved_from !== null) summary.move++
}
