import type { Json } from '../../base/json.ts'
import type { Severity } from '../../base/vocabulary.ts'
import type { EngineInfo } from '../../services/iac/contract.ts'
import type { PlanAction } from '../actions.ts'
import type { Plan } from '../plan.ts'
import type { BeyondTargets } from '../targets/targets.ts'

/** Grows when a field changes its meaning or goes away; new fields may come without it. */
export const PLAN_DOCUMENT_VERSION = 1

/** Names of attributes and keys of maps, and indexes of lists from 0, from the outside in. */
export type DocumentPath = (string | number)[]

/** One attribute of an object or of a block in it. Values are masked. */
export interface DocumentAttribute {
  path: DocumentPath
  change: 'added' | 'changed' | 'removed' | 'same'
  /** Null where there was none. */
  before: Json
  /** Null where there will be none, and where only the apply knows the value. */
  after: Json
  /** The value is known only after the apply. */
  unknown?: true
  /** The value is sensitive: a mask of fixed length stands in its place. */
  sensitive?: true
  /** A long value was cut. */
  cut?: true
}

/** A finding of a rule. `resource` is null when it is about the plan as a whole. */
export interface DocumentFinding {
  rule_id: string
  severity: Severity
  resource: string | null
  message: string
  suggested_fix: string | null
}

/** A statement of the request with what the plan says about it. */
export interface DocumentStatement {
  id: string
  text: string
  verdict: 'met' | 'unmet' | 'unknown'
  finding: string
}

/** The reasons and the way of a replacement. */
export interface DocumentReplacement {
  order: 'delete_first' | 'create_first'
  /** The old object stays where it is, and nobody manages it any more. */
  keeps_old: boolean
  /** Paths of the attributes that force it; empty when something else does, for example a taint. */
  reasons: { path: DocumentPath }[]
}

/** One entry of the plan's `resource_changes`. */
export interface DocumentResource {
  /** An object that was left over from an interrupted replacement has its key at the end of its address. */
  address: string
  /** Null in the root module. */
  module_address: string | null
  mode: 'managed' | 'data'
  type: string
  name: string
  /** Key or number of the instance; null for a block without `for_each` and `count`. */
  index: string | number | null
  deposed: string | null
  provider: { source: string; name: string } | null
  action: PlanAction
  /** The engine's word for why, for example `replace_because_tainted`. */
  action_reason: string | null
  replace: DocumentReplacement | null
  /** Present for every object that is imported, changed as well or not. The id is null when it may not be shown. */
  import: { id: string | null } | null
  /** The address that the object has in the state until the apply. */
  moved_from: string | null
  /** True if a target of the plan names it; true in a plan of the whole root. */
  is_targeted: boolean
  is_critical: boolean
  /** `data`: it holds data; `access`: it grants access. */
  critical_reason: 'data' | 'access' | null
  attributes: DocumentAttribute[]
  attributes_left_out: number
  /** Unchanged attributes that are not listed. */
  attributes_unchanged: number
  /** Addresses of other resources of this document. */
  depends_on: string[]
  depends_on_left_out: number
  findings: Omit<DocumentFinding, 'resource'>[]
  /** Ids of the statements that are about it. */
  statements: string[]
}

/** An output of the root module that changes. */
export interface DocumentOutput {
  name: string
  action: 'create' | 'update' | 'delete'
  before: Json
  after: Json
  unknown?: true
  sensitive?: true
  cut?: true
}

/** An object that somebody changed without the engine. */
export interface DocumentDrift {
  address: string
  action: 'update' | 'delete'
  /** Paths of what differs, at most 20. */
  paths: DocumentPath[]
  paths_left_out: number
}

/** Changes of a plan of the whole root that this plan leaves out; the reason when nobody could find out. */
export type DocumentOutside =
  | { made: true; changes: { address: string; type: string; action: PlanAction }[]; changes_left_out: number }
  | { made: false; reason: string }

/** Numbers of resources that the plan creates and so on; those that it imports or moves count there as well. */
export type DocumentSummary = Record<PlanAction, number>

/** A plan as data: what `rounds[].plans[].document_url` answers. All texts in it are masked. */
export interface PlanDocument {
  schema_version: typeof PLAN_DOCUMENT_VERSION
  engine: { name: string | null; version: string | null }
  /** Addresses that the plan was restricted to; none for the whole root. */
  targets: string[]
  /** What the plan was held against by the time of this document. */
  checked: { rules: boolean; request: boolean; outside_targets: boolean }
  summary: DocumentSummary
  /** In the plan's order. */
  resources: DocumentResource[]
  outputs: DocumentOutput[]
  drift: DocumentDrift[]
  drift_left_out: number
  /** Findings about the plan as a whole, or about what is not listed. */
  findings: DocumentFinding[]
  /** All statements of the request. */
  statements: DocumentStatement[]
  /** Null for a plan of the whole root, and while it is not known. */
  outside_targets: DocumentOutside | null
  /** Number of resources that lost their attributes because the document would have been too large. */
  resources_without_attributes: number
}

/** What is known of a plan beside its JSON. What is absent was not looked at. */
export interface PlanDocumentFacts {
  plan: Plan
  targets: readonly string[]
  masker: { text(text: string): string }
  engine?: EngineInfo | null
  findings?: readonly DocumentFinding[]
  /** `addresses`: those that the statement is about. */
  statements?: readonly (DocumentStatement & { addresses: readonly string[] })[]
  beyond?: BeyondTargets | null
}
