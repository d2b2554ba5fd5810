import { type Fields, objectOf, objectsOf, parseJson, statusOf, textOf, textsOf } from '../../client/json.ts'

/** The lists of the report, in the order of the screen. */
const LISTS = { left: 'unreconciled_drift', remediated: 'remediated_resources', excepted: 'whitelisted_exceptions' }
export type Fate = keyof typeof LISTS
export const FATES = Object.keys(LISTS) as Fate[]

export type DriftReport = NonNullable<ReturnType<typeof readReport>>
export type Entry = ReturnType<typeof toEntry>

/**
 * Reads a drift report and adds the engine's findings to each resource; null for any other document.
 * @param readings of the round, the first one first; the first one of a resource counts, because later ones no longer
 *   show what was remediated
 */
export function readReport(document: unknown, readings: readonly Reading[]) {
  const fields = objectOf(document)
  const status = statusOf(fields)
  if (!status) return null
  const known = Map.groupBy(readings, ({ address }) => address)
  const entries = FATES.flatMap((fate) =>
    objectsOf(fields[LISTS[fate]]).map((of) => toEntry(fate, of, known.get(textOf(of.resource_address))?.[0])),
  )
  return { summary: textOf(fields.summary), status, entries }
}

const toEntry = (fate: Fate, of: Fields, { kind = 'differs', differences = [] }: Partial<Reading> = {}) => ({
  ...{ fate, kind, differences },
  /** The address; empty for an entry about no resource, such as a plan that could not be made. */
  address: textOf(of.resource_address),
  /** The file of the code; empty when unknown. */
  file: textOf(of.file_path),
  reason: textOf(of.reason ?? of.change),
  details: textsOf(of.details),
  /** A model's remarks about single remediated attributes. */
  remarks: objectsOf(of.changes).map(({ attribute_modified, change_description, reason, details }) => ({
    attribute: textOf(attribute_modified),
    text: [textOf(change_description), ...textsOf(details), textOf(reason)].filter(Boolean).join(' · '),
  })),
  /** The exception rule that covers the resource. */
  rule: textOf(of.rule),
})

export function countFates(entries: readonly Entry[]): Record<Fate, number> {
  const counts = { left: 0, remediated: 0, excepted: 0 }
  for (const { fate, address } of entries) if (address !== '') counts[fate] += 1
  return counts
}

/** Returns the meaning of the status in a sentence. */
export function explainStatus(status: DriftReport['status'], isPreview: boolean, counts: Record<Fate, number>): string {
  if (isPreview && status === 'Failed') return 'The drift check failed; the reason is below. Nothing was changed.'
  if (isPreview) return 'This was a preview. Neither the code nor the cloud was changed.'
  if (status === 'Partial') return 'Part of the drift was remediated, and some differences remain.'
  if (status === 'Failed') return 'Nothing was remediated: the differences remain, or the drift check failed.'
  return counts.remediated > 0
    ? 'The code now matches what really runs. Only expected differences remain.'
    : 'There are no unexpected differences.'
}

/** One attribute that differs; null where a side does not have it. */
export interface Difference {
  path: string
  code: string | null
  cloud: string | null
}

/** The findings of the engine about one resource. */
interface Reading {
  address: string
  kind: 'differs' | 'only-code' | 'only-cloud'
  differences: Difference[]
}

/** Reads the drift that a round stored beside its plans as operations on the code; null for any other text. */
export function readOperations(text: string): Reading[] | null {
  const list = parseJson(text)
  if (!Array.isArray(list)) return null
  const readings = list.map(toReading)
  return readings.every((reading) => reading !== null) ? readings : null
}

function toReading(entry: unknown): Reading | null {
  const { address, action, changes } = objectOf(entry)
  if (typeof address !== 'string') return null
  if (action === 'delete resource') return { address, kind: 'only-code', differences: [] }
  if (action === 'update resource') return { address, kind: 'differs', differences: differencesOf(changes) }
  if (action !== 'create resource') return null
  const given = Object.entries(objectOf(changes)).filter(([, value]) => value !== null)
  return { address, kind: 'only-cloud', differences: given.map(onlyCloud) }
}

const onlyCloud = ([path, value]: [string, unknown]): Difference => ({ path, code: null, cloud: show(value) })

function differencesOf(changes: unknown): Difference[] {
  const { changed, added, removed } = objectOf(changes)
  return [
    ...Object.entries(objectOf(changed)).map(([path, sides]) => {
      const { old_value, new_value } = objectOf(sides)
      return { path, ...apart(old_value, new_value) }
    }),
    ...Object.entries(objectOf(added)).map(onlyCloud),
    ...Object.entries(objectOf(removed)).map(([path, value]) => ({ path, code: show(value), cloud: null })),
  ]
}

/** Returns both values as text, quoted only where a number or boolean on the other side would look the same. */
function apart(code: unknown, cloud: unknown): { code: string; cloud: string } {
  const shown = { code: show(code), cloud: show(cloud) }
  return shown.code === shown.cloud ? { code: JSON.stringify(code), cloud: JSON.stringify(cloud) } : shown
}

const show = (value: unknown): string => (typeof value === 'string' ? value : (JSON.stringify(value) ?? ''))
