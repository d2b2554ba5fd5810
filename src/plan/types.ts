import type { Json, JsonObject } from '../base/json.ts'

/** One entry of `resource_changes`, as `show -json` of the engine writes it. */
export interface ResourceChange {
  address: string
  previous_address?: string
  module_address?: string
  mode: string
  type: string
  name: string
  provider_name?: string
  /** Set for an object left over from an interrupted replacement. */
  deposed?: string
  action_reason?: string
  change: Change
}

export interface Change {
  actions: string[]
  before: Json
  after: Json
  /** `true` for a value known only after apply; nested like the value. */
  after_unknown: Json
  /** `true` for a sensitive value; nested like the value. */
  before_sensitive: Json
  after_sensitive: Json
  importing?: JsonObject
}

/** A plan document whose format was checked. `document` is the whole JSON, never shown unmasked. */
export interface Plan {
  resource_changes: ResourceChange[]
  document: JsonObject
}

/** What happens to an object. `none` covers no-op, read and forget. */
export type ChangeAction = 'create' | 'update' | 'delete' | 'recreate' | 'none'

export interface PlannedChange {
  address: string
  type: string
  action: Exclude<ChangeAction, 'none'>
}

export type PlanCounts = {
  create: number
  update: number
  delete: number
  recreate: number
}
