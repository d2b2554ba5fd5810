import type { Json } from '../../base/json.ts'
import type { Severity } from '../../base/vocabulary.ts'
import type { EngineInfo } from '../../services/iac/contract.ts'
import type { PlanAction } from '../actions.ts'
import type { Plan } from '../plan.ts'
import type { BeyondTargets } from '../targets/targets.ts'

/** Increases when a field changes its meaning or is removed, but not for new fields. */
export const PLAN_DOCUMENT_VERSION = 1

/** Attribute names, map keys and list indexes (from 0), outermost first. */
export type DocumentPath = (string | number)[]

/** An attribute of an object or of a nested block. Values are masked. */
export interface DocumentAttribute {
  path: DocumentPath
  change: 'added' | 'changed' | 'removed' | 'same'
  /** Null where there was none. */
  before: Json
  /** Null where there will be none, or where only the apply determines it. */
  after: Json
  /** True if the value is known only after the apply. */
  unknown?: true
  /** True if a mask of fixed length replaces a sensitive value. */
  sensitive?: true
  /** True if a long value was cut. */
  cut?: true
}

/** A finding of a rule; `resource` is null for a finding about the whole plan. */
export interface DocumentFinding {
  rule_id: string
  severity: Severity
  resource: string | null
  message: string
  suggested_fix: string | null
}

/** A statement of the request with its result. */
export interface DocumentStatement {
  id: string
  text: string
  verdict: 'met' | 'unmet' | 'unknown'
  finding: string
}

/** The reasons for a replacement and its order. */
export interface DocumentReplacement {
  order: 'delete_first' | 'create_first'
  /** True if the old object stays, unmanaged. */
  keeps_old: boolean
  /** Paths of the attributes that force it; empty for another reason, such as a taint. */
  reasons: { path: DocumentPath }[]
}

/** One entry of the plan's `resource_changes`. */
export interface DocumentResource {
  /** Address; for an object left over from an interrupted replacement its key follows. */
  address: string
  /** Null in the root module. */
  module_address: string | null
  mode: 'managed' | 'data'
  type: string
  name: string
  /** Instance key or number; null without `for_each` and `count`. */
  index: string | number | null
  deposed: string | null
  provider: { source: string; name: string } | null
  action: PlanAction
  /** The engine's reason, for example `replace_because_tainted`. */
  action_reason: string | null
  replace: DocumentReplacement | null
  /** Present for every imported object, changed or not. The id is null when it must stay hidden. */
  import: { id: string | null } | null
  /** Current address in the state. */
  moved_from: string | null
  /** True if a target names it or the plan has no targets. */
  is_targeted: boolean
  is_critical: boolean
  /** `data` if it holds data, `access` if it grants access. */
  critical_reason: 'data' | 'access' | null
  attributes: DocumentAttribute[]
  attributes_left_out: number
  /** Number of unchanged attributes that are not listed. */
  attributes_unchanged: number
  /** Addresses of other resources of this document. */
  depends_on: string[]
  depends_on_left_out: number
  findings: Omit<DocumentFinding, 'resource'>[]
  /** Ids of the statements that are about it. */
  statements: string[]
}

export interface DocumentOutput {
  name: string
  action: 'create' | 'update' | 'delete'
  before: Json
  after: Json
  unknown?: true
  sensitive?: true
  cut?: true
}

/** An object that was changed outside the engine. */
export interface DocumentDrift {
  address: string
  action: 'update' | 'delete'
  /** Paths of the differences, at most 20. */
  paths: DocumentPath[]
  paths_left_out: number
}

/** Changes of a whole-root plan that this plan leaves out, or the reason why they are unknown. */
export type DocumentOutside =
  | { made: true; changes: { address: string; type: string; action: PlanAction }[]; changes_left_out: number }
  | { made: false; reason: string }

/** Resources by action; imported and moved ones count there in addition. */
export type DocumentSummary = Record<PlanAction, number>

/** A plan as data, served at `rounds[].plans[].document_url`. All texts are masked. */
export interface PlanDocument {
  schema_version: typeof PLAN_DOCUMENT_VERSION
  engine: { name: string | null; version: string | null }
  /** Targets of the plan; empty for the whole root. */
  targets: string[]
  /** The checks that the plan had been through when the document was made. */
  checked: { rules: boolean; request: boolean; outside_targets: boolean }
  summary: DocumentSummary
  resources: DocumentResource[]
  outputs: DocumentOutput[]
  drift: DocumentDrift[]
  drift_left_out: number
  /** Findings about the whole plan or about unlisted resources. */
  findings: DocumentFinding[]
  statements: DocumentStatement[]
  /** Null for a plan of the whole root, and while unknown. */
  outside_targets: DocumentOutside | null
  /** Number of resources without attributes because of the size limit. */
  resources_without_attributes: number
}

/** Facts about a plan beside its JSON; absent for what was not examined. */
export interface PlanDocumentFacts {
  plan: Plan
  targets: readonly string[]
  masker: { text(text: string): string }
  engine?: EngineInfo | null
  findings?: readonly DocumentFinding[]
  /** Statements with the `addresses` that each is about. */
  statements?: readonly (DocumentStatement & { addresses: readonly string[] })[]
  beyond?: BeyondTargets | null
}
