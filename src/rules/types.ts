import type { Json, JsonObject } from '../base/json.ts'
import type { Severity } from '../base/vocabulary.ts'
import type { ChangeAction, Plan } from '../plan/plan.ts'

export type Cloud = 'common' | 'aws' | 'azure' | 'gcp' | 'oci' | 'kubernetes'

/** Values of a resource or of a block in it, with what is unknown and sensitive in them, nested alike. */
export interface View {
  values: JsonObject
  unknown: Json | undefined
  sensitive: Json | undefined
}

/** One change of the plan as a rule sees it: the planned values; of a deletion the values that go. */
export interface Subject extends View {
  address: string
  type: string
  action: Exclude<ChangeAction, 'none'>
  /** Values before the change; empty for a new object. */
  before: JsonObject
}

/** What a rule may know beside the subject; computed once for a plan. */
export interface PlanContext {
  /** Addresses that no target names. */
  outside: ReadonlySet<string>
  /** Arguments of the block that a resource comes from, as the plan's `configuration` has them. */
  expressionsOf(address: string): JsonObject
}

/**
 * One rule. Texts and findings are made of our own words, addresses and names of attributes: a message
 * never holds a value of the plan, since any of them may be a secret.
 */
interface RuleText {
  /** `<cloud>.<family>.<name>`; also listed in `config/rule-ids.ts`. */
  id: string
  title: string
  reason: string
  fix: string
  /** `error` and `critical` lock the session. */
  severity: Severity
  cloud: Cloud
}

/** Looks at one changed resource after the other. */
export interface ResourceRule extends RuleText {
  /** Resource types the rule looks at; every type when absent. */
  types?: readonly string[]
  /**
   * `values` (default): the planned values of what is created, updated or replaced; what an update leaves
   * as bad as it was is no finding. `change`: every change, deletions included.
   */
  looksAt?: 'values' | 'change'
  /** One message for each cause; equal messages count once. */
  check(subject: Subject, context: PlanContext): string[]
}

/** Looks at the plan as a whole. */
export interface PlanRule extends RuleText {
  checkPlan(plan: Plan): { resource: string | null; message: string }[]
}

export type Rule = ResourceRule | PlanRule

/** One thing that a rule of code found; of the same shape as the findings of a report. */
export interface Finding {
  rule_id: string
  severity: Severity
  /** Address of the resource; null when the finding is about the plan as a whole. */
  resource: string | null
  message: string
  suggested_fix: string | null
}

/** What the rules of code checked and found. */
export interface CodeFindings {
  findings: Finding[]
  checked_rules: readonly string[]
}
