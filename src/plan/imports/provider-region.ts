import { itemsOf, type Json, memberOf } from '../../base/json.ts'
import type { Plan } from '../plan.ts'

/**
 * The region in which the provider of a resource block works, as the code says it: as a constant, or as a variable of
 * the root. Null when the code does not say it, for example when the provider reads it from its environment.
 * @param address of one resource
 */
export function providerRegion(plan: Plan, address: string): string | null {
  const path = address.replace(INDEXES, '').split('.')
  const block = path.slice(-2).join('.')
  const configuration = plan.document.configuration
  let module = memberOf(configuration, 'root_module')
  for (const [at, name] of path.slice(0, -2).entries())
    if (at % 2 === 1) module = memberOf(memberOf(memberOf(module, 'module_calls'), name), 'module')
  const resource = itemsOf(memberOf(module, 'resources')).find((one) => memberOf(one, 'address') === block)
  const key = memberOf(resource, 'provider_config_key')
  if (typeof key !== 'string') return null
  const provider = memberOf(memberOf(configuration, 'provider_config'), key)
  const region = memberOf(memberOf(provider, 'expressions'), 'region')
  return textOf(memberOf(region, 'constant_value')) ?? variableOf(plan, region)
}

const INDEXES = /\[(?:"(?:\\.|[^"\\])*"|\d+)\]/g

const textOf = (value: Json | undefined) => (typeof value === 'string' && value !== '' ? value : null)

/** Value of the variable that is the whole expression. An expression of several references is not evaluated. */
function variableOf(plan: Plan, expression: Json | undefined): string | null {
  const [reference, ...others] = itemsOf(memberOf(expression, 'references'))
  const name = typeof reference === 'string' && others.length === 0 ? /^var\.([\w-]+)$/.exec(reference)?.[1] : undefined
  return name === undefined ? null : textOf(memberOf(memberOf(plan.document.variables, name), 'value'))
}
