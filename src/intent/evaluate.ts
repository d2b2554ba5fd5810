import type { Plan } from '../plan/plan.ts'
import { isNegative } from './compare.ts'
import { fits, judge } from './condition.ts'
import { isAt, type PlanView, type Resource, selects, viewPlan } from './resources.ts'
import type { Evaluated, IntentAction, Statement, StatementOf, Verdict } from './types.ts'
import { stepsOf } from './values-at.ts'

type Result = Pick<Evaluated, 'verdict' | 'found'>

export interface EvaluationOptions {
  /** The plan also holds what earlier rounds of the session changed: what it has too much of may be theirs. */
  cumulative?: boolean
  /** Every resource type that the providers have, where that is known. */
  types?: readonly string[]
}

/** What a plan says about statements, in their order. Never throws, whatever the plan holds. */
export function evaluate(statements: readonly Statement[], plan: Plan, options: EvaluationOptions = {}): Evaluated[] {
  const view = viewPlan(plan, options.types)
  return statements.map((statement) => ({ statement, ...resultOf(statement, view, options.cumulative === true) }))
}

function resultOf(statement: Statement, view: PlanView, cumulative: boolean): Result {
  switch (statement.kind) {
    case 'resource_count':
      return countResult(statement, view, cumulative)
    case 'attribute':
      return attributeResult(statement, view)
    case 'unchanged':
      return noneOf(
        view,
        cumulative,
        'what must not change',
        (resource) => touches(resource) && selects(statement, resource),
      )
    case 'no_deletions':
      return noneOf(
        view,
        cumulative,
        'what must not be destroyed',
        ({ action }) => action === 'delete' || action === 'recreate',
      )
    case 'no_changes_outside': {
      const { types, addresses } = statement
      const inside = ({ type, address }: Resource) =>
        types.some((one) => fits(one, type)) || addresses.some((one) => isAt(one, address))
      return noneOf(
        view,
        cumulative,
        'changes elsewhere',
        (resource) => resource.action !== 'none' && !inside(resource),
      )
    }
    case 'output_exists': {
      if (view.outputs === null) return { verdict: 'unknown', found: 'the plan does not tell its outputs' }
      const met = view.outputs.some((name) => fits(statement.name, name))
      return { verdict: met ? 'met' : 'unmet', found: met ? 'the output is there' : `outputs: ${listed(view.outputs)}` }
    }
  }
}

const touches = ({ action, forgotten }: Resource) =>
  forgotten || action === 'update' || action === 'delete' || action === 'recreate'

/** Met when nothing is as described. */
function noneOf(
  { resources }: PlanView,
  cumulative: boolean,
  what: string,
  matches: (resource: Resource) => boolean,
): Result {
  const matching = resources.filter(matches)
  if (matching.length === 0) return { verdict: 'met', found: `no ${what.replace(/^what /, 'change to what ')}` }
  const found = listed(matching.map(({ address, action }) => `${action === 'none' ? 'forget' : action} ${address}`))
  return cumulative
    ? { verdict: 'unknown', found: `${found}; an earlier round may have asked for it` }
    : { verdict: 'unmet', found }
}

const HAPPENS: Record<IntentAction, string> = {
  create: 'to create',
  update: 'to update',
  delete: 'to delete',
  recreate: 'to recreate',
}

function countResult(statement: StatementOf<'resource_count'>, view: PlanView, cumulative: boolean): Result {
  const { type, action, op, value, name } = statement
  const counted = countOf(statement, view)
  const what = `${type}${statement.where.length > 0 ? ' of that kind' : ''} ${action ? HAPPENS[action] : 'planned'}`
  const range =
    counted.certain === counted.possible ? `${counted.certain}` : `${counted.certain} to ${counted.possible}`
  const found = `${range} ${what}`
  if (counted.possible === 0 && !view.speaksOf(type))
    return { verdict: 'unknown', found: `no provider of this plan has ${type}` }
  const verdict = verdictOfCount(op, value, counted)
  if (verdict !== 'unmet') return { verdict, found }
  if (cumulative && counted.certain > value)
    return { verdict: 'unknown', found: `${found}; earlier rounds may have asked for them` }
  // Names of blocks are the generator's to choose.
  if (name !== undefined && verdictOfCount(op, value, countOf({ ...statement, name: undefined }, view)) === 'met')
    return { verdict: 'unknown', found: `${found}, others have another name` }
  return { verdict, found }
}

/** How many there are for certain, and how many there may be. */
interface Counted {
  certain: number
  possible: number
}

function countOf(statement: StatementOf<'resource_count'>, { resources }: PlanView): Counted {
  const { action } = statement
  const where = statement.where.map((condition) => ({ condition, steps: stepsOf(condition.path) }))
  const counted: Counted = { certain: 0, possible: 0 }
  for (const resource of resources) {
    if (!selects(statement, resource) || (action ? resource.action !== action : resource.values === null)) continue
    const results =
      action === 'delete' ? [] : where.map(({ condition, steps }) => judge(resource, condition, steps).holds)
    if (results.includes(false)) continue
    counted.possible++
    if (!results.includes(null)) counted.certain++
  }
  return counted
}

function verdictOfCount(
  op: StatementOf<'resource_count'>['op'],
  value: number,
  { certain, possible }: Counted,
): Verdict {
  if (op === 'at_least') return certain >= value ? 'met' : possible >= value ? 'unknown' : 'unmet'
  if (op === 'at_most') return possible <= value ? 'met' : certain <= value ? 'unknown' : 'unmet'
  if (certain === possible) return certain === value ? 'met' : 'unmet'
  return certain <= value && value <= possible ? 'unknown' : 'unmet'
}

/** Of what the plan creates or changes where that is anything, else of what there is. */
function attributeResult(statement: StatementOf<'attribute'>, view: PlanView): Result {
  const { type, path, op } = statement
  const selected = view.resources.filter((resource) => resource.values !== null && selects(statement, resource))
  const changed = selected.filter(({ action }) => action !== 'none')
  const lookedAt = changed.length > 0 ? changed : selected
  if (lookedAt.length === 0) return noResource(statement, view)
  const steps = stepsOf(path)
  const judged = lookedAt.map((resource) => ({ resource, ...judge(resource, statement, steps) }))
  const results = judged.map(({ holds }) => holds)
  const all = statement.every || isNegative(op)
  const verdict = all ? verdictOf(results, false) : verdictOf(results, true)
  const decisive = judged.filter(({ holds }) =>
    verdict === 'met' ? holds === true : verdict === 'unmet' ? holds === false : holds === null,
  )
  return {
    verdict,
    found: listed(
      decisive.map(({ resource, shown }) => `${resource.address}: ${path} is ${shown}`),
      type,
    ),
  }
}

/** @param enough the result of one resource that settles it */
function verdictOf(results: readonly (boolean | null)[], enough: boolean): Verdict {
  if (results.includes(enough)) return enough ? 'met' : 'unmet'
  if (results.includes(null)) return 'unknown'
  return enough ? 'unmet' : 'met'
}

function noResource({ type, name, address, op }: StatementOf<'attribute'>, view: PlanView): Result {
  const wanted = address ?? [type, name].filter(Boolean).join(' ')
  const found = `no ${wanted} in the plan`
  if (type !== undefined && !view.speaksOf(type))
    return { verdict: 'unknown', found: `no provider of this plan has ${type}` }
  if (isNegative(op)) return { verdict: 'met', found }
  const renamed =
    name !== undefined &&
    view.resources.some((resource) => resource.values !== null && selects({ type, address }, resource))
  return renamed ? { verdict: 'unknown', found: `${found}, others have another name` } : { verdict: 'unmet', found }
}

const MAX_LISTED = 5

function listed(items: readonly string[], none = 'none'): string {
  if (items.length === 0) return none
  const shown = items.slice(0, MAX_LISTED).join('; ')
  return items.length > MAX_LISTED ? `${shown}; and ${items.length - MAX_LISTED} more` : shown
}
