import * as v from 'valibot'

/**
 * The part of an engine state that is compared. `objects` has the attributes of every managed object by its address,
 * each value as JSON text.
 */
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

/**
 * Reads a state document of format 4; null when the text is no such document. Of an encrypted one only lineage and
 * serial can be read, so that it has no objects.
 */
export function parseState(text: string): EngineState | null {
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch {
    return null
  }
  const parsed = v.safeParse(document, json)
  if (!parsed.success) return null
  const { lineage, serial, resources } = parsed.output
  const objects = new Map<string, Record<string, string>>()
  for (const entry of resources) {
    if (entry.mode !== 'managed') continue
    for (const one of entry.instances) objects.set(addressOf(entry, one), attributesOf(one.attributes))
  }
  return { lineage, serial, objects }
}

type Resource = v.InferOutput<typeof resource>
type Instance = v.InferOutput<typeof instance>

/** The address in the form that the engine uses in plans. */
function addressOf({ module, type, name }: Resource, { index_key, deposed }: Instance): string {
  const index = index_key === undefined ? '' : `[${JSON.stringify(index_key)}]`
  const leftover = deposed === undefined ? '' : ` (deposed object ${deposed})`
  return `${module === undefined ? '' : `${module}.`}${type}.${name}${index}${leftover}`
}

const attributesOf = (attributes: Record<string, unknown>) =>
  Object.fromEntries(Object.entries(attributes).map(([name, value]) => [name, JSON.stringify(value)]))

/** Differences of the objects of a state from an earlier one. Only names are listed, since values may be secret. */
export interface StateMoves {
  added: string[]
  removed: string[]
  changed: { address: string; attributes: string[] }[]
}

/**
 * Reports whether a state is no longer the one of `before`. The lineage is compared only when both are known: a state
 * that does not exist yet has an empty one.
 */
export function hasMoved(before: StateVersion, now: StateVersion): boolean {
  const another = before.lineage !== '' && now.lineage !== '' && before.lineage !== now.lineage
  return another || before.serial !== now.serial
}

export function compareStates(before: EngineState, now: EngineState): StateMoves {
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

/** At most so many objects are listed as added, as removed and as changed. */
const MAX_NAMED = 50

/** Describes the differences in one sentence, also when there are none. */
export function describeMoves({ added, removed, changed }: StateMoves): string {
  const parts = [
    listNames('added', added),
    listNames('removed', removed),
    listNames(
      'changed',
      changed.map(({ address, attributes }) => `${address} (${attributes.join(', ')})`),
    ),
  ].filter((part) => part !== '')
  return parts.length > 0 ? `Since then: ${parts.join('; ')}.` : 'No managed object differs.'
}

function listNames(what: string, list: readonly string[]): string {
  if (list.length === 0) return ''
  const more = list.length > MAX_NAMED ? ` and ${list.length - MAX_NAMED} more` : ''
  return `${what} ${list.slice(0, MAX_NAMED).join(', ')}${more}`
}

/** Identifies the state that a plan was made from. Before the first apply the lineage is empty and the serial 0. */
export interface StateVersion {
  lineage: string
  serial: number
}
