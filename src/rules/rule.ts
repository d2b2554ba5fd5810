import type { Json, JsonObject } from '../base/json.ts'
import type { Severity } from '../base/vocabulary.ts'
import type { ChangeAction } from '../plan/actions.ts'
import type { Plan } from '../plan/plan.ts'

export type Cloud = 'common' | 'aws' | 'azure' | 'gcp' | 'oci' | 'kubernetes'

/** Values of a resource or of a block in it, with the marks of their unknown and sensitive parts (`plan/value-marks.ts`). */
export interface View {
  values: JsonObject
  unknown: Json | undefined
  sensitive: Json | undefined
}

/** One planned change as a rule sees it, with the planned values; a deletion has none. */
export interface Subject extends View {
  address: string
  type: string
  action: ChangeAction
  /** Values before the change; empty for a new object. */
  before: JsonObject
}

/** The plan around the subject of a rule; computed once for each plan. */
export interface PlanContext {
  /** Addresses of changes that no target names. */
  outside: ReadonlySet<string>
  /** Arguments of the block that a resource comes from, as the plan's `configuration` has them. */
  expressionsOf(address: string): JsonObject
}

/**
 * The texts of a rule. They and its messages consist of our own words, addresses and names of attributes. A message
 * never contains a value of the plan, since any value may be a secret.
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

/** A rule that is checked for each changed resource. */
export interface ResourceRule extends RuleText {
  /** Resource types the rule looks at; every type when absent. */
  types?: readonly string[]
  /**
   * `values` (the default): the rule looks at the planned values of what is created, updated or replaced; what was as
   * bad before an update is no finding. `change`: the rule looks at every change, deletions included.
   */
  looksAt?: 'values' | 'change'
  /** One message for each cause; equal messages count once. */
  check(subject: Subject, context: PlanContext): string[]
}

/** A finding of a rule about one resource, or about the plan as a whole when `resource` is null. */
export interface RuleMessage {
  resource: string | null
  message: string
}

/** A rule that is checked once for a plan. */
export interface PlanRule extends RuleText {
  checkPlan(plan: Plan): RuleMessage[]
}

export type Rule = ResourceRule | PlanRule

/** One finding of a rule, in the same shape as the findings in a compliance report. */
export interface Finding {
  rule_id: string
  severity: Severity
  /** Address of the resource; null when the finding is about the plan as a whole. */
  resource: string | null
  message: string
  suggested_fix: string | null
}

/** The findings of the rules, and the ids of the rules that were checked. */
export interface CodeFindings {
  findings: Finding[]
  checked_rules: readonly string[]
}
