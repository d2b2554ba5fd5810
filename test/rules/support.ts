import type { RuleGrades } from '../../config/types.ts'
import { evaluateRules } from '../../src/rules/evaluate.ts'
import { planOf } from '../plan/fixtures.ts'

export type Values = Record<string, unknown>
export interface More {
  actions?: string[]
  before?: unknown
  after_unknown?: unknown
  after_sensitive?: unknown
  address?: string
  targets?: string[]
  unasked?: string[]
  rest?: Record<string, unknown>
}

/** A plan with one change, and the expected finding of a rule. */
export interface Case extends More {
  rule: string
  name: string
  type: string
  after: Values | null
  found: boolean
}

export const bad = (rule: string, name: string, type: string, after: Values | null, more: More = {}): Case => ({
  rule,
  name,
  type,
  after,
  found: true,
  ...more,
})
export const fine = (...parts: Parameters<typeof bad>): Case => ({ ...bad(...parts), found: false })
/** The part of a case whose object is destroyed. */
export const deleted = (before: Values = {}) => ({ actions: ['delete'], before })

export function findingsOf({
  type,
  after,
  actions = ['create'],
  targets = [],
  unasked = [],
  rest = {},
  ...change
}: Omit<Case, 'rule' | 'name' | 'found'>) {
  const plan = planOf([{ type, after, actions, before: null, ...change }], rest)
  return evaluateRules(plan, { targets, unasked, grades: {} }).findings
}

/** Returns the ids of the rules with findings in several changes. */
export const idsIn = (
  changes: Parameters<typeof planOf>[0],
  grades: RuleGrades = {},
  rest: Record<string, unknown> = {},
) => evaluateRules(planOf(changes, rest), { targets: [], grades }).findings.map(({ rule_id }) => rule_id)

/** Makes the `configuration` of a plan whose root module has one resource `<type>.item0` with these expressions. */
export const configured = (type: string, expressions: Record<string, unknown>) => ({
  configuration: {
    root_module: { resources: [{ address: `${type}.item0`, mode: 'managed', type, name: 'item0', expressions }] },
  },
})

export const constant = <Value>(value: Value) => ({ constant_value: value })
export const reference = (...references: string[]) => ({ references })
