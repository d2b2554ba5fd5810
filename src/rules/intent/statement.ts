import type { Json } from '../../base/json.ts'
import type { ChangeAction } from '../../plan/actions.ts'

/** Comparisons of a planned value with a statement's value. */
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

export type Scalar = string | number | boolean

/** A comparison of the value at a path, for example `versioning_configuration.status`. */
export interface Condition {
  path: string
  op: Operator
  /** Absent for `exists` and `absent`. */
  value?: Scalar
}

/** A selection of resources by patterns with `*`, `?` and `|`, in any letter case. */
export interface Selector {
  type?: string
  name?: string
  /** Address with or without indexes; a module's address includes everything in it. */
  address?: string
}

interface StatementText {
  /** Unique in its list, for example `s3`. */
  id: string
  /** The statement as a sentence. */
  text: string
  /** The request's words behind it; may be empty. */
  words: string
}

export type Statement = StatementText &
  (
    | ({
        kind: 'resource_count'
        /** Kind of changes to count; without it, resources after the apply are counted. */
        action?: ChangeAction
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

/** A verdict; `unknown` when the plan cannot tell. */
export type Verdict = 'met' | 'unmet' | 'unknown'

/** The verdict on a statement; `finding` describes the plan, without sensitive values. */
export interface StatementResult {
  statement: Statement
  verdict: Verdict
  finding: string
}

/** A planned value with its unknown and sensitive marks. */
export interface Marked {
  value: Json
  unknown: Json | undefined
  sensitive: Json | undefined
}
