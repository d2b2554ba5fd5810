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

/** The actions of a list: all but reading. */
export type ListedAction = Exclude<PlanAction, 'read' | 'none'>

/** The actions that change only the state. */
export const STATE_ACTIONS = ['move', 'import', 'forget'] as const
export type StateAction = (typeof STATE_ACTIONS)[number]

/** The actions that change an object. */
export type ChangeAction = Extract<PlanAction, 'create' | 'update' | 'replace' | 'delete'>

export interface PlannedChange {
  address: string
  type: string
  action: ChangeAction
  /** True for a replacement that only removes the old object from the state. */
  keeps_old?: true
}

export type PlanCounts = Record<ChangeAction, number>

/** Returns the action that engine actions amount to; `forget` with `create` is a replacement, as is `delete`. */
export function actionOf(actions: readonly string[]): ChangeAction | 'none' {
  const creates = actions.includes('create')
  const removes = actions.includes('delete') || actions.includes('forget')
  if (creates && removes) return 'replace'
  if (creates) return 'create'
  if (actions.includes('delete')) return 'delete'
  return actions.includes('update') ? 'update' : 'none'
}

/** Returns the action of a plan on an object: `import` or `move` only when nothing else happens to it. */
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

/** The actions as reports, pull requests and models name them: `recreate` for `replace`. */
export const REPORT_ACTIONS = ['create', 'update', 'delete', 'recreate'] as const
type ReportAction = (typeof REPORT_ACTIONS)[number]

export const toReportAction = <Action extends PlanAction>(action: Action) =>
  (action === 'replace' ? 'recreate' : action) as Exclude<Action, 'replace'> | 'recreate'

export const fromReportAction = (action: ReportAction): ChangeAction => (action === 'recreate' ? 'replace' : action)

/** Returns counts under the names of the report. */
export const toReportCounts = <Counts extends { replace: number }>({ replace, ...counts }: Counts) => ({
  ...counts,
  recreate: replace,
})

/** Formats a change: `recreate module.a.x.y, which was x.y`. */
export const describeChange = (change: { action: PlanAction; address: string; previous_address?: string }): string =>
  `${toReportAction(change.action)} ${change.address}` +
  (change.previous_address === undefined ? '' : `, which was ${change.previous_address}`)
