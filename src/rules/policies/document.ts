import { isJsonObject, type Json, memberOf, parseJson } from '../../base/json.ts'
import { COMPUTED } from '../../plan/code/literal.ts'

/** Longest document that is read, in characters; cloud limits are far lower. */
const MAX_LENGTH = 500_000

/** Parses a JSON text; null for other text. A value that is not a text stays as it is. */
export function jsonOf(value: Json): Json {
  if (typeof value !== 'string') return value
  return value.length > MAX_LENGTH || !/^\s*[[{]/.test(value) ? null : (parseJson(value) ?? null)
}

/**
 * A condition of a statement, with its operator in parts. Names are in lower case, since AWS ignores letter case in
 * them. A part that is known only after the apply contains `COMPUTED`, here as in the other members of a statement.
 */
export interface Condition {
  /** Of several values of the request, `all` or `any` have to fulfil it. */
  quantifier: 'all' | 'any' | null
  /** Without quantifier and `IfExists`, for example `stringlike`. */
  operator: string
  /** True when it also holds for a request without the key. */
  ifExists: boolean
  key: string
  /** It holds for any of them. */
  values: string[]
}

/** A principal: its kind, such as `AWS` or `Federated`, and its value; `*` has the kind `*`. */
export interface Principal {
  kind: string
  value: string
}

/** A statement of an AWS policy. */
export interface Statement {
  allows: boolean
  /** Actions, with wildcards, in lower case. */
  actions: string[]
  notActions: string[]
  resources: string[]
  notResources: string[]
  principals: Principal[]
  notPrincipals: Principal[]
  conditions: Condition[]
}

/** Returns the statements of a policy, a JSON text or an object; none when it is not a policy. */
export const statementsIn = (policy: Json): Statement[] =>
  listOf(memberOf(jsonOf(policy), 'Statement')).flatMap((statement) => {
    const effect = memberOf(statement, 'Effect')
    if (!isJsonObject(statement) || (effect !== 'Allow' && effect !== 'Deny')) return []
    const lower = (key: string) => textsIn(statement[key]).map((text) => text.toLowerCase())
    return {
      allows: effect === 'Allow',
      actions: lower('Action'),
      notActions: lower('NotAction'),
      resources: textsIn(statement.Resource),
      notResources: textsIn(statement.NotResource),
      principals: principalsIn(statement.Principal),
      notPrincipals: principalsIn(statement.NotPrincipal),
      conditions: conditionsIn(statement.Condition),
    }
  })

function principalsIn(principal: Json | undefined): Principal[] {
  if (typeof principal === 'string') return [{ kind: principal === '*' ? '*' : '', value: principal }]
  if (!isJsonObject(principal)) return []
  return Object.entries(principal).flatMap(([kind, values]) => textsIn(values).map((value) => ({ kind, value })))
}

const OPERATOR = /^(?:for(all|any)values?:)?(.*?)(ifexists)?$/

function conditionsIn(condition: Json | undefined): Condition[] {
  if (condition === COMPUTED)
    return [{ quantifier: null, operator: COMPUTED, ifExists: false, key: COMPUTED, values: [COMPUTED] }]
  if (!isJsonObject(condition)) return []
  return Object.entries(condition).flatMap(([name, keys]) => {
    const [, quantifier, operator = '', ifExists] = OPERATOR.exec(name.toLowerCase()) ?? []
    const parts: Pick<Condition, 'quantifier' | 'operator' | 'ifExists'> = {
      quantifier: quantifier === 'all' || quantifier === 'any' ? quantifier : null,
      operator,
      ifExists: ifExists !== undefined,
    }
    const entries: [string, Json][] = isJsonObject(keys) ? Object.entries(keys) : [[COMPUTED, COMPUTED]]
    return entries.map(([key, values]) => ({ ...parts, key: key.toLowerCase(), values: textsIn(values) }))
  })
}

const listOf = (value: Json | undefined): Json[] => (Array.isArray(value) ? value : [value ?? null])

/** Returns texts, numbers and booleans as texts. */
const textsIn = (value: Json | undefined): string[] =>
  listOf(value).flatMap((item) =>
    typeof item === 'string' || typeof item === 'boolean' || typeof item === 'number' ? [String(item)] : [],
  )
