import { type Plan, parsePlan } from '../../../../src/plan/plan.ts'

type Body = Record<string, unknown>
/** A value with its unknown marks, and the expression that the configuration of a plan has for it. */
interface Planned {
  value: unknown
  unknown: unknown
  expression: unknown
}

/** What only the engine can compute: references and templates. Documents in JSON have braces of their own. */
const COMPUTED =
  /^(?:(?:data\.)?[a-z][a-z0-9]*(?:_[a-z0-9]+)+\.[\w-]+(?:\[[^\]]*\])?\.[\w.[\]"*-]+|(?:module|var|local|each|count|path|self)\..+)$/
const isComputed = (text: string) => COMPUTED.test(text) || (text.includes('${') && !/^\s*\{/.test(text))
/** Arguments with a document in JSON, which Checkov reads as values. */
const DOCUMENTS =
  /^(?:policy|assume_role_policy|access_polic(?:y|ies)|inline_policy|container_(?:definitions|properties)|policy_data|configuration|content|resource_policy)$/
/** Arguments whose type is text, which the engine makes of a number. */
const TEXTS = /^(?:(?:ip_)?protocol|\w+_port_ranges?)$/
const META = new Set(['dynamic', 'lifecycle', 'depends_on', 'provider'])
const isBody = (value: unknown): value is Body => typeof value === 'object' && value !== null && !Array.isArray(value)

/**
 * Makes the plan that creates some resources of an example, as Checkov reads them: a list of one value for an attribute,
 * a list of objects for blocks. No provider fills in defaults here: what the code leaves unset is null.
 */
export function examplePlan(resources: Record<string, Body>): Plan {
  const planned = Object.entries(resources).map(([address, body]) => {
    const [type = '', name = ''] = address.split('.')
    return { resource: { address, mode: 'managed', type, name }, ...plannedBody(body) }
  })
  return parsePlan(
    JSON.stringify({
      format_version: '1.2',
      terraform_version: '1.11.4',
      resource_changes: planned.map(({ resource, value, unknown }) => {
        const change = { actions: ['create'], before: null, after: value, after_unknown: unknown, after_sensitive: {} }
        return { ...resource, provider_name: 'example', change: { before_sensitive: false, ...change } }
      }),
      configuration: {
        root_module: {
          resources: planned.map(({ resource, expression }) => ({ ...resource, expressions: expression })),
        },
      },
    }),
  )
}

/** Returns the resource of an example with those that it refers to, and that refer to it. */
export function withNeighbours(address: string, resources: Record<string, Body>): Record<string, Body> {
  const own = referencesIn(resources[address])
  return Object.fromEntries(
    Object.entries(resources).filter(
      ([other, body]) => other === address || own.includes(other) || referencesIn(body).includes(address),
    ),
  )
}

function plannedBody(body: Body): Planned {
  const members = Object.entries(body)
    .filter(([key]) => !META.has(key))
    .map(([key, raw]): [string, Planned] => {
      const items = Array.isArray(raw) ? raw : [raw]
      if (isDocument(key, items[0])) return [key, literal(JSON.stringify(items[0]))]
      if (items.length > 0 && items.every(isBody)) return [key, joined(items.map(plannedBody))]
      return [key, planned(TEXTS.test(key) ? asText(raw) : items.length === 1 ? items[0] : items)]
    })
  const pick = (part: keyof Planned) => Object.fromEntries(members.map(([key, member]) => [key, member[part]]))
  return { value: pick('value'), unknown: pick('unknown'), expression: pick('expression') }
}

function asText(value: unknown): unknown {
  if (Array.isArray(value)) return value.length === 1 ? asText(value[0]) : value.map(asText)
  return typeof value === 'number' ? String(value) : value
}

function isDocument(key: string, value: unknown): boolean {
  if (!DOCUMENTS.test(key)) return false
  const keys = isBody(value) ? Object.keys(value) : []
  return (
    Array.isArray(value) || keys.some((each) => /^[A-Z]/.test(each) || each === 'bindings' || each === 'privileged')
  )
}

function planned(value: unknown): Planned {
  if (isBody(value)) return plannedBody(value)
  if (Array.isArray(value)) {
    const items = joined(value.map(planned))
    return JSON.stringify(items.unknown).includes('true')
      ? { ...items, expression: { references: value.flatMap(referencesIn) } }
      : literal(value)
  }
  if (typeof value === 'string' && isComputed(value))
    return { value: null, unknown: true, expression: { references: referencesIn(value) } }
  return literal(value)
}

/** Lists the resources that a text refers to. */
const referencesIn = (value: unknown): string[] =>
  JSON.stringify(value).match(/\b[a-z][a-z0-9]*(?:_[a-z0-9]+)+\.[\w-]+/g) ?? ['unknown']

const literal = (value: unknown): Planned => ({ value, unknown: false, expression: { constant_value: value } })
const joined = (items: Planned[]): Planned => ({
  value: items.map(({ value }) => value),
  unknown: items.map(({ unknown }) => unknown),
  expression: items.map(({ expression }) => expression),
})
