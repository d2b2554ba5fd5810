import type { Json, JsonObject } from '../base/json.ts'
import type { Severity } from '../base/vocabulary.ts'
import type { ChangeAction } from '../plan/actions.ts'
import type { Plan } from '../plan/plan.ts'

export type Cloud = 'common' | 'aws' | 'azure' | 'gcp' | 'oci' | 'kubernetes'

/** Values of a resource or block with unknown and sensitive marks (`plan/value-marks.ts`). */
export interface View {
  values: JsonObject
  unknown: Json | undefined
  sensitive: Json | undefined
}

/** A planned change with its planned values; a deletion has none. */
export interface Subject extends View {
  address: string
  type: string
  action: ChangeAction
  /** Values before the change; empty for a new object. */
  before: JsonObject
}

/** The plan around a rule's subject; computed once for each plan. */
export interface PlanContext {
  /** Addresses of changes that no target names. */
  outside: ReadonlySet<string>
  /** Addresses that the plan destroys although the request does not ask for it. */
  unasked: ReadonlySet<string>
  /** Addresses of resources with a policy that is known only after the apply. */
  unread: readonly string[]
  /** Returns the arguments of a resource's block in the plan's `configuration`. */
  expressionsOf(address: string): JsonObject
}

/** The texts of a rule. Like its messages they never contain values of the plan, which may be secret. */
export interface RuleText {
  /** `<cloud>.<family>.<name>`, which operators use in their rules file. */
  id: `${Cloud}.${string}.${string}`
  title: string
  reason: string
  fix: string
  /** Default severity; `error` and `critical` lock the session. */
  severity: Severity
}

/** A rule that is checked for each changed resource. */
export type ResourceRule = RuleText & {
  /** Resource types that the rule checks; every type when absent. */
  types?: readonly string[]
  /** `values` (default): planned values, without faults from before an update. `change`: all changes, deletions too. */
  looksAt?: 'values' | 'change'
  /** `once`: one finding a plan, with the number of resources. */
  told?: 'once'
} & (
    | { message: string; isBrokenBy(subject: Subject): boolean }
    /** Returns a message for each cause; equal messages count once. */
    | { check(subject: Subject, context: PlanContext): string[] }
  )

/** A finding about one resource, or about the plan when `resource` is null. */
export interface RuleMessage {
  resource: string | null
  message: string
}

/** A rule that is checked for each changed resource, or once for a plan. */
export type Rule = ResourceRule | (RuleText & { checkPlan(plan: Plan, context: PlanContext): RuleMessage[] })

/** A finding of a rule, in the shape of compliance findings. */
export interface Finding {
  rule_id: string
  severity: Severity
  /** Address of the resource; null for a finding about the whole plan. */
  resource: string | null
  message: string
  suggested_fix: string | null
}

/** The findings of rules, and the ids of checked rules. */
export interface CodeFindings {
  findings: Finding[]
  checked_rules: readonly string[]
}
