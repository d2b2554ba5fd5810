import type { Json } from '../base/json.ts'

/** How a planned value is compared with the one that a statement names. */
export const OPERATORS = [
  'eq',
  'ne',
  'contains',
  'not_contains',
  'matches',
  'exists',
  'absent',
  'at_least',
  'at_most',
] as const
export type Operator = (typeof OPERATORS)[number]

export const ACTIONS = ['create', 'update', 'delete', 'recreate'] as const
export type IntentAction = (typeof ACTIONS)[number]

export type Scalar = string | number | boolean

/** A comparison of what stands at a path of a resource, for example `versioning_configuration.status`. */
export interface Condition {
  path: string
  op: Operator
  /** Absent for `exists` and `absent`. */
  value?: Scalar
}

/** Which resources a statement is about; texts are globs (`*`, `?`, `|` between alternatives), letter case does not count. */
export interface Selector {
  type?: string
  /** Of the block. */
  name?: string
  /** With or without indexes; a module stands for everything in it. */
  address?: string
}

/** What every statement has. */
interface Told {
  /** Unique in its list. */
  id: string
  /** The statement as a sentence. */
  text: string
  /** Words of the request that it stands for; may be empty. */
  words: string
}

export type Statement = Told &
  (
    | ({
        kind: 'resource_count'
        /** Planned changes of that kind are counted; without it the resources that there are afterwards. */
        action?: IntentAction
        op: 'eq' | 'at_least' | 'at_most'
        value: number
        where: Condition[]
      } & Selector & { type: string })
    | ({ kind: 'attribute'; every: boolean } & Selector & Condition)
    | ({ kind: 'unchanged' } & Selector)
    | { kind: 'no_deletions' }
    | { kind: 'no_changes_outside'; types: string[]; addresses: string[] }
    | { kind: 'output_exists'; name: string }
  )
export type StatementKind = Statement['kind']
export type StatementOf<Kind extends StatementKind> = Extract<Statement, { kind: Kind }>

/** `unknown`: the plan cannot tell. */
export type Verdict = 'met' | 'unmet' | 'unknown'

/** What the plan says about a statement. `found` is in our words and values of the plan, never one that is sensitive. */
export interface Evaluated {
  statement: Statement
  verdict: Verdict
  found: string
}

/** A value of a plan with what is marked in it. */
export interface Marked {
  value: Json
  unknown: Json | undefined
  sensitive: Json | undefined
}
