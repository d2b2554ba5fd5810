import { isJsonObject, itemsOf, type Json, type JsonObject, memberOf, ownMember } from '../../base/json.ts'
import { modulesOf, type Plan } from '../../plan/plan.ts'

// Readers of a plan's `configuration`, in which variables have no values yet.

const MAX_DEPTH = 40

/** Indexes the arguments of every resource block by address without indexes. */
export function expressionsByAddress(plan: Plan): Map<string, JsonObject> {
  const byAddress = new Map<string, JsonObject>()
  for (const { address, module } of modulesOf(plan))
    for (const resource of itemsOf(ownMember(module, 'resources'))) {
      const local = memberOf(resource, 'address')
      const expressions = memberOf(resource, 'expressions')
      if (typeof local === 'string' && isJsonObject(expressions))
        byAddress.set(address === '' ? local : `${address}.${local}`, expressions)
    }
  return byAddress
}

/** Returns the arguments whose whole value is literal; their paths include the blocks, for example `setting.value`. */
export function literalsOf(
  expressions: Json | undefined,
  path = '',
  depth = 0,
): { argument: string; path: string; value: Json }[] {
  if (depth > MAX_DEPTH) return []
  if (Array.isArray(expressions)) return expressions.flatMap((block) => literalsOf(block, path, depth + 1))
  if (!isJsonObject(expressions)) return []
  return Object.entries(expressions).flatMap(([argument, expression]) => {
    const full = path === '' ? argument : `${path}.${argument}`
    if (isJsonObject(expression) && Object.hasOwn(expression, 'constant_value'))
      return [{ argument, path: full, value: expression.constant_value ?? null }]
    return literalsOf(expression, full, depth + 1)
  })
}

/** Reports whether an expression has references, such as a variable, resource or local value. */
export function hasReferences(expression: Json | undefined, depth = 0): boolean {
  if (depth > MAX_DEPTH) return true
  if (Array.isArray(expression)) return expression.some((item) => hasReferences(item, depth + 1))
  if (!isJsonObject(expression)) return false
  const references = ownMember(expression, 'references')
  if (Array.isArray(references) && references.length > 0) return true
  return Object.entries(expression).some(([key, item]) => key !== 'constant_value' && hasReferences(item, depth + 1))
}

/** Yields every text in a JSON value. */
export function* textsIn(value: Json, depth = 0): Generator<string> {
  if (depth > MAX_DEPTH) return
  if (typeof value === 'string') yield value
  else if (Array.isArray(value)) for (const item of value) yield* textsIn(item, depth + 1)
  else if (isJsonObject(value)) for (const item of Object.values(value)) yield* textsIn(item, depth + 1)
}
