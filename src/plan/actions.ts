import type { ResourceChange } from './plan.ts'

export const PLAN_ACTIONS = [
  'create',
  'update',
  'replace',
  'delete',
  'read',
  'import',
  'move',
  'forget',
  'none',
] as const
/** An action of a plan on an object. `import`, `move` and `forget` stand for plans that do nothing else with it. */
export type PlanAction = (typeof PLAN_ACTIONS)[number]

/** The actions that change an object. */
export type ChangeAction = Extract<PlanAction, 'create' | 'update' | 'replace' | 'delete'>

export interface PlannedChange {
  address: string
  type: string
  action: ChangeAction
  /** Of a replacement: the old object is only removed from the state, and stays where it is. */
  keeps_old?: true
}

export type PlanCounts = Record<ChangeAction, number>

/**
 * The one action that a list of engine actions amounts to; `none` for no-op, read and forget. `delete` with `create` is
 * a replacement; so is `forget` with `create`, since a new object is made although the old one is only removed from the
 * state.
 */
export function actionOf(actions: readonly string[]): ChangeAction | 'none' {
  const creates = actions.includes('create')
  const removes = actions.includes('delete') || actions.includes('forget')
  if (creates && removes) return 'replace'
  if (creates) return 'create'
  if (actions.includes('delete')) return 'delete'
  return actions.includes('update') ? 'update' : 'none'
}

/** Returns the action of a plan on an object; an import or a move is the action when nothing else happens to it. */
export function mainAction(resource: ResourceChange): PlanAction {
  const { mode, change } = resource
  if (mode === 'data') return change.actions.includes('read') ? 'read' : 'none'
  const action = actionOf(change.actions)
  if (action !== 'none') return action
  if (change.actions.includes('forget')) return 'forget'
  if (change.importing) return 'import'
  return isMoved(resource) ? 'move' : 'none'
}

/** True if the object has another address in the state until the apply. */
export const isMoved = ({ previous_address, address }: ResourceChange): boolean =>
  previous_address !== undefined && previous_address !== address

/** Reports, pull requests and models say `recreate` for `replace`. This is the only place that translates. */
export const REPORT_ACTIONS = ['create', 'update', 'delete', 'recreate'] as const
export type ReportAction = (typeof REPORT_ACTIONS)[number]

export const toReportAction = <Action extends PlanAction>(action: Action) =>
  (action === 'replace' ? 'recreate' : action) as Exclude<Action, 'replace'> | 'recreate'

export const fromReportAction = (action: ReportAction): ChangeAction => (action === 'recreate' ? 'replace' : action)

/** Returns counts under the names of the report. */
export const toReportCounts = <Counts extends { replace: number }>({ replace, ...counts }: Counts) => ({
  ...counts,
  recreate: replace,
})
