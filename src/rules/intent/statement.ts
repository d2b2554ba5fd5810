import type { Json } from '../../base/json.ts'
import type { ChangeAction } from '../../plan/actions.ts'

/** Comparisons of a planned value with the value in a statement. */
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

/** A comparison of the value at a path of a resource, for example `versioning_configuration.status`. */
export interface Condition {
  path: string
  op: Operator
  /** Absent for `exists` and `absent`. */
  value?: Scalar
}

/**
 * The resources that a statement is about. The texts are patterns with `*`, `?` and `|` between alternatives; letter
 * case does not matter.
 */
export interface Selector {
  type?: string
  /** Name of the block. */
  name?: string
  /** With or without indexes; the address of a module includes everything in it. */
  address?: string
}

/** Fields of every statement. */
interface StatementText {
  /** Unique in its list, for example `s3`. */
  id: string
  /** The statement as a sentence. */
  text: string
  /** The words of the request that it was made from; may be empty. */
  words: string
}

export type Statement = StatementText &
  (
    | ({
        kind: 'resource_count'
        /** Counts the changes of this kind; when absent, the resources that exist after the apply are counted. */
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

/** `unknown` when the plan cannot tell whether a statement is met. */
export type Verdict = 'met' | 'unmet' | 'unknown'

/** True if the plan meets a statement. `finding` says what the plan has, without sensitive values. */
export interface StatementResult {
  statement: Statement
  verdict: Verdict
  finding: string
}

/** A value of a plan with the marks of its unknown and of its sensitive parts. */
export interface Marked {
  value: Json
  unknown: Json | undefined
  sensitive: Json | undefined
}
