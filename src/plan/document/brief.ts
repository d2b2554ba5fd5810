import { isJsonObject, itemsOf, type Json, type JsonObject, memberOf } from '../../base/json.ts'
import type { Change, Plan } from '../plan.ts'
import type { BeyondTargets } from '../targets.ts'
import { hasMark } from '../value-marks.ts'
import { clipDepth, compareChange } from './differences.ts'
import type { DocumentDrift, DocumentOutput, DocumentOutside, DocumentPath } from './plan-document.ts'
import { showSides } from './resource.ts'
import type { Display } from './shown.ts'

/** Most entries of a list. */
const MAX_BRIEF = 1_000
const MAX_DRIFT_PATHS = 20

/** Lists the changed outputs of the root module, in the plan's order. */
export function listOutputs({ document }: Plan, display: Display): DocumentOutput[] {
  const { output_changes: changes } = document
  if (!isJsonObject(changes)) return []
  return Object.entries(changes).flatMap(([name, change]) => toOutput(name, change, display) ?? [])
}

function toOutput(name: string, entry: Json, display: Display): DocumentOutput | null {
  const actions = itemsOf(memberOf(entry, 'actions'))
  const action = (['create', 'update', 'delete'] as const).find((one) => actions.includes(one))
  if (!isJsonObject(entry) || action === undefined) return null
  const change = readChange(entry)
  const part = (value: Json, sensitive: Json) => ({
    value: clipDepth(value, null).value,
    sensitive: clipDepth(sensitive, true).value,
    unknown: undefined,
  })
  const isSensitive = change.before_sensitive === true || change.after_sensitive === true
  const sides = {
    before: part(change.before, change.before_sensitive),
    after: part(change.after, change.after_sensitive),
    isSensitive,
  }
  const { before, after, sensitive, cut } = showSides(sides, display)
  return {
    name: display.text(name),
    action,
    before: before.value,
    after: change.after_unknown === true ? null : after.value,
    ...(hasMark(change.after_unknown) && { unknown: true as const }),
    ...(sensitive && { sensitive: true as const }),
    ...(cut && { cut: true as const }),
  }
}

/** Lists objects that were changed or deleted outside the engine, with the attributes concerned. */
export function listDrift({ document }: Plan, display: Display): { drift: DocumentDrift[]; drift_left_out: number } {
  const entries = itemsOf(document.resource_drift)
  const drift = entries.slice(0, MAX_BRIEF).flatMap((entry) => toDrift(entry, display) ?? [])
  return { drift, drift_left_out: Math.max(0, entries.length - MAX_BRIEF) }
}

function toDrift(entry: Json, display: Display): DocumentDrift | null {
  const address = memberOf(entry, 'address')
  const change = memberOf(entry, 'change')
  if (typeof address !== 'string' || !isJsonObject(change)) return null
  const action = (['delete', 'update'] as const).find((one) => itemsOf(change.actions).includes(one))
  if (action === undefined) return null
  const paths: DocumentPath[] = []
  let leftOut = 0
  if (action === 'update')
    compareChange(readChange(change), {
      differs: ({ path }) => {
        if (paths.length < MAX_DRIFT_PATHS) paths.push(display.path(path))
        else leftOut++
      },
      same: () => {},
    })
  return { address: display.text(address), action, paths, paths_left_out: leftOut }
}

/** Reads a change from a part of the plan that no schema has checked. */
const readChange = (entry: JsonObject): Change => ({
  actions: [],
  before: entry.before ?? null,
  after: entry.after ?? null,
  after_unknown: entry.after_unknown ?? null,
  before_sensitive: entry.before_sensitive ?? null,
  after_sensitive: entry.after_sensitive ?? null,
})

/** Describes what a plan of the whole root would do beyond this one. */
export function describeOutside(beyond: BeyondTargets | null | undefined, display: Display): DocumentOutside | null {
  if (!beyond) return null
  if (!beyond.made) return { made: false, reason: display.text(beyond.reason) }
  const changes = beyond.changes.slice(0, MAX_BRIEF).map(({ address, type, action }) => ({
    address: display.text(address),
    type: display.text(type),
    action,
  }))
  return { made: true, changes, changes_left_out: beyond.changes.length - changes.length }
}
