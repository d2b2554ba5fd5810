import * as v from 'valibot'
import { parseJson } from '../../base/json.ts'
import { joinNames } from '../../base/text.ts'

/** The compared part of an engine state; `objects` holds attributes (as JSON text) by address. */
export interface EngineState extends StateVersion {
  objects: Map<string, Record<string, string>>
}

export const NO_STATE: EngineState = { lineage: '', serial: 0, objects: new Map() }

const instance = v.object({
  index_key: v.optional(v.union([v.string(), v.number()])),
  deposed: v.optional(v.string()),
  attributes: v.fallback(v.record(v.string(), v.unknown()), {}),
})
const resource = v.object({
  module: v.optional(v.string()),
  mode: v.string(),
  type: v.string(),
  name: v.string(),
  instances: v.fallback(v.array(instance), []),
})
const document = v.object({
  lineage: v.string(),
  serial: v.pipe(v.number(), v.integer(), v.minValue(0)),
  resources: v.fallback(v.array(resource), []),
})

/** Reads a state of format 4; null for other text. An encrypted state yields lineage and serial but no objects. */
export function parseState(text: string): EngineState | null {
  const parsed = v.safeParse(document, parseJson(text))
  if (!parsed.success) return null
  const { lineage, serial, resources } = parsed.output
  const objects = new Map<string, Record<string, string>>()
  for (const entry of resources) {
    if (entry.mode !== 'managed') continue
    for (const one of entry.instances) {
      const attributes = Object.entries(one.attributes).map(([name, value]) => [name, JSON.stringify(value)])
      objects.set(addressOf(entry, one), Object.fromEntries(attributes))
    }
  }
  return { lineage, serial, objects }
}

type Resource = v.InferOutput<typeof resource>
type Instance = v.InferOutput<typeof instance>

/** Returns the address as in plans. */
function addressOf({ module, type, name }: Resource, { index_key, deposed }: Instance): string {
  const index = index_key === undefined ? '' : `[${JSON.stringify(index_key)}]`
  const leftover = deposed === undefined ? '' : ` (deposed object ${deposed})`
  return `${module === undefined ? '' : `${module}.`}${type}.${name}${index}${leftover}`
}

/** Reports whether a state differs from `before`; lineage counts only if both are known. */
export function hasMoved(before: StateVersion, now: StateVersion): boolean {
  const another = before.lineage !== '' && now.lineage !== '' && before.lineage !== now.lineage
  return another || before.serial !== now.serial
}

/** Finds the objects that differ between two states, by name only, since values may be secret. */
export function compareStates(before: EngineState, now: EngineState) {
  const added = [...now.objects.keys()].filter((address) => !before.objects.has(address))
  const removed = [...before.objects.keys()].filter((address) => !now.objects.has(address))
  const changed = [...now.objects].flatMap(([address, attributes]) => {
    const earlier = before.objects.get(address)
    if (!earlier) return []
    const names = new Set([...Object.keys(earlier), ...Object.keys(attributes)])
    const differing = [...names].filter((name) => earlier[name] !== attributes[name])
    return differing.length > 0 ? [{ address, attributes: differing.sort() }] : []
  })
  return { added: added.sort(), removed: removed.sort(), changed }
}

/** Most objects listed as added, removed or changed. */
const MAX_NAMED = 50

/** Describes the differences, or that there are none, in one sentence. */
export function describeMoves({ added, removed, changed }: ReturnType<typeof compareStates>): string {
  const names = {
    added,
    removed,
    changed: changed.map(({ address, attributes }) => `${address} (${attributes.join(', ')})`),
  }
  const parts = Object.entries(names)
    .filter(([, list]) => list.length > 0)
    .map(([what, list]) => `${what} ${joinNames(list, MAX_NAMED)}`)
  return parts.length > 0 ? `Since then: ${parts.join('; ')}.` : 'No managed object differs.'
}

/** The state that a plan was made from; before the first apply the lineage is empty and the serial 0. */
export interface StateVersion {
  lineage: string
  serial: number
}
