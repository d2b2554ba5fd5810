/** One attribute that differs. Null: that side does not have it. */
export interface Difference {
  path: string
  code: string | null
  cloud: string | null
}

/** What the engine found about one resource. */
export interface Reading {
  address: string
  kind: 'differs' | 'only-code' | 'only-cloud'
  differences: Difference[]
}

/** So many attributes of one resource are listed; the rest is counted. */
export const MAX_DIFFERENCES = 200

/**
 * Reads the drift that a round stored beside its plans: a list of what had to be done to the code. Null when the text is
 * something else, for example the words of an engine that failed.
 */
export function readOperations(text: string): Reading[] | null {
  const list = parse(text)
  if (!Array.isArray(list)) return null
  const readings = list.map(toReading)
  return readings.every((reading) => reading !== null) ? readings : null
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

function toReading(entry: unknown): Reading | null {
  const { address, action, changes } = (entry ?? {}) as Record<string, unknown>
  if (typeof address !== 'string') return null
  if (action === 'delete resource') return { address, kind: 'only-code', differences: [] }
  if (action === 'create resource') return { address, kind: 'only-cloud', differences: attributesOf(changes) }
  if (action === 'update resource') return { address, kind: 'differs', differences: differencesOf(changes) }
  return null
}

const entriesOf = (value: unknown): [string, unknown][] =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? Object.entries(value) : []

const attributesOf = (object: unknown): Difference[] =>
  entriesOf(object)
    .filter(([, value]) => value !== null)
    .map(([path, value]) => ({ path, code: null, cloud: show(value) }))

function differencesOf(changes: unknown): Difference[] {
  const { changed, added, removed } = Object.fromEntries(entriesOf(changes))
  return [
    ...entriesOf(changed).map(([path, sides]) => {
      const { old_value, new_value } = (sides ?? {}) as Record<string, unknown>
      return { path, ...apart(old_value, new_value) }
    }),
    ...entriesOf(added).map(([path, value]) => ({ path, code: null, cloud: show(value) })),
    ...entriesOf(removed).map(([path, value]) => ({ path, code: show(value), cloud: null })),
  ]
}

/** Texts stand without quotes, unless a number or a truth value on the other side would then look the same. */
function apart(code: unknown, cloud: unknown): { code: string; cloud: string } {
  const shown = { code: show(code), cloud: show(cloud) }
  return shown.code === shown.cloud ? { code: JSON.stringify(code), cloud: JSON.stringify(cloud) } : shown
}

const show = (value: unknown): string => (typeof value === 'string' ? value : (JSON.stringify(value) ?? ''))
