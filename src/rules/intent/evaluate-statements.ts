import type { ChangeAction } from '../../plan/actions.ts'
import type { Plan } from '../../plan/plan.ts'
import { isNegative, judge, stepsOf } from './condition.ts'
import { fits } from './glob.ts'
import { isDestroyed, isOutside, isSelected, type PlanView, type Resource, viewPlan } from './resources.ts'
import type { Statement, StatementOf, StatementResult, Verdict } from './statement.ts'

type Result = Pick<StatementResult, 'verdict' | 'finding'>

/**
 * Evaluates statements in order. Never throws, whatever the plan contains.
 * @param options.cumulative true if the plan includes changes of earlier rounds: an unrequested change is then unknown,
 * not unmet
 * @param options.types all resource types of the providers; absent when unknown
 */
export function evaluateStatements(
  statements: readonly Statement[],
  plan: Plan,
  options: { cumulative?: boolean; types?: readonly string[] } = {},
): StatementResult[] {
  const view = viewPlan(plan, options.types)
  return statements.map((statement) => ({ statement, ...resultOf(statement, view, options.cumulative === true) }))
}

function resultOf(statement: Statement, view: PlanView, cumulative: boolean): Result {
  const requireNo = (what: string, matches: (resource: Resource) => boolean): Result => {
    const matching = view.resources.filter(matches)
    return matching.length === 0 ? { verdict: 'met', finding: `no ${what}` } : describeMatches(matching, cumulative)
  }
  switch (statement.kind) {
    case 'resource_count':
      return countResult(statement, view, cumulative)
    case 'attribute':
      return attributeResult(statement, view)
    case 'unchanged':
      return requireNo(
        'change to what must not change',
        (resource) => disturbs(resource) && isSelected(statement, resource),
      )
    case 'no_deletions':
      return requireNo('change to what must not be destroyed', isDestroyed)
    case 'no_changes_outside':
      return requireNo('changes elsewhere', (resource) => isOutside(statement, resource))
    case 'output_exists': {
      if (view.outputs === null) return { verdict: 'unknown', finding: 'the plan does not tell its outputs' }
      const met = view.outputs.some((name) => fits(statement.name, name))
      return {
        verdict: met ? 'met' : 'unmet',
        finding: met ? 'the output is there' : `outputs: ${listItems(view.outputs)}`,
      }
    }
  }
}

const disturbs = (resource: Resource) => resource.forgotten || resource.action === 'update' || isDestroyed(resource)

/** Describes the changes that break a statement. */
function describeMatches(matching: readonly Resource[], cumulative: boolean): Result {
  const finding = listItems(matching.map(describeChange))
  return cumulative
    ? { verdict: 'unknown', finding: `${finding}; an earlier round may have asked for it` }
    : { verdict: 'unmet', finding }
}

const describeChange = ({ address, action }: Resource): string => `${action === 'none' ? 'forget' : action} ${address}`

const HAPPENS: Record<ChangeAction, string> = {
  create: 'to create',
  update: 'to update',
  delete: 'to delete',
  replace: 'to recreate',
}

function countResult(statement: StatementOf<'resource_count'>, view: PlanView, cumulative: boolean): Result {
  const { type, action, op, value, name } = statement
  const count = countOf(statement, view)
  const what = `${type}${statement.where.length > 0 ? ' of that kind' : ''} ${action ? HAPPENS[action] : 'planned'}`
  const range = count.certain === count.possible ? `${count.certain}` : `${count.certain} to ${count.possible}`
  const finding = `${range} ${what}`
  if (count.possible === 0 && !view.knowsType(type))
    return { verdict: 'unknown', finding: `no provider of this plan has ${type}` }
  const verdict = verdictOfCount(op, value, count)
  if (verdict !== 'unmet') return { verdict, finding }
  if (cumulative && count.certain > value)
    return { verdict: 'unknown', finding: `${finding}; earlier rounds may have asked for them` }
  // The generator names blocks, so a different name does not break the statement.
  if (name !== undefined && verdictOfCount(op, value, countOf({ ...statement, name: undefined }, view)) === 'met')
    return { verdict: 'unknown', finding: `${finding}, others have another name` }
  return { verdict, finding }
}

/** Numbers of certain matches, and of possible matches with values known after the apply. */
interface Count {
  certain: number
  possible: number
}

function countOf(statement: StatementOf<'resource_count'>, { resources }: PlanView): Count {
  const { action } = statement
  const where = statement.where.map((condition) => ({ condition, steps: stepsOf(condition.path) }))
  const count: Count = { certain: 0, possible: 0 }
  for (const resource of resources) {
    if (!isSelected(statement, resource) || (action ? resource.action !== action : resource.values === null)) continue
    const results =
      action === 'delete' ? [] : where.map(({ condition, steps }) => judge(resource, condition, steps).holds)
    if (results.includes(false)) continue
    count.possible++
    if (!results.includes(null)) count.certain++
  }
  return count
}

function verdictOfCount(op: StatementOf<'resource_count'>['op'], value: number, { certain, possible }: Count): Verdict {
  if (op === 'at_least') return certain >= value ? 'met' : possible >= value ? 'unknown' : 'unmet'
  if (op === 'at_most') return possible <= value ? 'met' : certain <= value ? 'unknown' : 'unmet'
  if (certain === possible) return certain === value ? 'met' : 'unmet'
  return certain <= value && value <= possible ? 'unknown' : 'unmet'
}

/** Judges the matching resources that the plan changes; if there are none, all that match. */
function attributeResult(statement: StatementOf<'attribute'>, view: PlanView): Result {
  const { type, path, op } = statement
  const selected = view.resources.filter((resource) => resource.values !== null && isSelected(statement, resource))
  const changed = selected.filter(({ action }) => action !== 'none')
  const examined = changed.length > 0 ? changed : selected
  if (examined.length === 0) return noResource(statement, view)
  const steps = stepsOf(path)
  const judgements = examined.map((resource) => ({ resource, ...judge(resource, statement, steps) }))
  const results = judgements.map(({ holds }) => holds)
  const all = statement.every || isNegative(op)
  const verdict = all ? verdictOf(results, false) : verdictOf(results, true)
  const decisive = judgements.filter(({ holds }) =>
    verdict === 'met' ? holds === true : verdict === 'unmet' ? holds === false : holds === null,
  )
  return {
    verdict,
    finding: listItems(
      decisive.map(({ resource, description }) => `${resource.address}: ${path} is ${description}`),
      type,
    ),
  }
}

/** @param enough the result that is decisive as soon as one resource has it */
function verdictOf(results: readonly (boolean | null)[], enough: boolean): Verdict {
  if (results.includes(enough)) return enough ? 'met' : 'unmet'
  if (results.includes(null)) return 'unknown'
  return enough ? 'unmet' : 'met'
}

function noResource({ type, name, address, op }: StatementOf<'attribute'>, view: PlanView): Result {
  const wanted = address ?? [type, name].filter(Boolean).join(' ')
  const gone = view.resources.filter(
    (resource) => resource.values === null && isSelected({ type, name, address }, resource),
  )
  const finding = gone.length > 0 ? listItems(gone.map(describeChange)) : `no ${wanted} in the plan`
  if (type !== undefined && !view.knowsType(type))
    return { verdict: 'unknown', finding: `no provider of this plan has ${type}` }
  if (isNegative(op)) return { verdict: 'met', finding }
  const renamed =
    name !== undefined &&
    view.resources.some((resource) => resource.values !== null && isSelected({ type, address }, resource))
  return renamed
    ? { verdict: 'unknown', finding: `${finding}, others have another name` }
    : { verdict: 'unmet', finding }
}

const MAX_LISTED = 5

function listItems(items: readonly string[], none = 'none'): string {
  if (items.length === 0) return none
  const first = items.slice(0, MAX_LISTED).join('; ')
  return items.length > MAX_LISTED ? `${first}; and ${items.length - MAX_LISTED} more` : first
}
