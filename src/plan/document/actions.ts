import { itemsOf, memberOf } from '../../base/json.ts'
import { actionOf } from '../changes.ts'
import type { ChangeAction, ResourceChange } from '../plan.ts'
import { MAX_DEPENDENCIES } from './limits.ts'
import type { Display } from './shown.ts'
import type { DocumentAction, DocumentReplacement, DocumentResource, DocumentSummary } from './types.ts'

const ACTIONS: Record<ChangeAction, DocumentAction> = {
  create: 'create',
  update: 'update',
  recreate: 'replace',
  delete: 'delete',
  none: 'none',
}

/** The word of this document for an action of a plan. */
export const documentAction = (action: ChangeAction): DocumentAction => ACTIONS[action]

/** What a plan does with an object; an import or a move is the action when nothing else happens to it. */
export function mainAction(resource: ResourceChange): DocumentAction {
  const { mode, change } = resource
  if (mode === 'data') return change.actions.includes('read') ? 'read' : 'none'
  const action = documentAction(actionOf(change.actions))
  if (action !== 'none') return action
  if (change.actions.includes('forget')) return 'forget'
  if (change.importing) return 'import'
  return isMoved(resource) ? 'move' : 'none'
}

export const isMoved = ({ previous_address, address }: ResourceChange): boolean =>
  previous_address !== undefined && previous_address !== address

/** Why and how an object is replaced; null for any other action. */
export function replacementOf({ mode, change }: ResourceChange, display: Display): DocumentReplacement | null {
  const { actions, replace_paths } = change
  if (mode === 'data' || actionOf(actions) !== 'recreate') return null
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

/** An identifier of which a part is sensitive is not shown at all, because its rest may tell the part. */
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

/** Counts a resource: its action, and beside that whether it is imported and whether it is moved. */
export function countResource(summary: DocumentSummary, { action, import: imported, moved_from }: DocumentResource) {
  if (action !== 'import' && action !== 'move') summary[action]++
  if (imported !== null) summary.import++
  if (moved_from !== null) summary.move++
}
