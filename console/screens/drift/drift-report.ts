import { type Fields, listOf, objectOf, parseJson, textOf, textsOf } from '../../client/json.ts'
export type DriftStatus = 'Succeeded' | 'Partial' | 'Failed'
export type Fate = 'left' | 'remediated' | 'excepted'

/** A model's remark about one remediated attribute. */
export interface Remark {
  attribute: string
  text: string
  reason: string
  details: string[]
}

export interface Entry {
  fate: Fate
  /** The address; empty for an entry about no resource, such as a plan that could not be made. */
  address: string
  /** The file of the code; empty when unknown. */
  file: string
  reason: string
  details: string[]
  remarks: Remark[]
  /** The exception rule that covers the resource. */
  rule: string
  kind: Reading['kind']
  differences: Difference[]
}

export interface DriftReport {
  summary: string
  status: DriftStatus
  entries: Entry[]
}

/**
 * Reads a drift report and adds the engine's findings to each resource; null for any other document.
 * @param readings of the round, the first one first; the first one of a resource counts, because later ones no longer
 *   show what was remediated
 */
export function readReport(document: unknown, readings: readonly Reading[]): DriftReport | null {
  const fields = objectOf(document)
  const { status } = fields
  if (status !== 'Succeeded' && status !== 'Partial' && status !== 'Failed') return null
  const known = new Map<string, Reading>()
  for (const reading of readings) if (!known.has(reading.address)) known.set(reading.address, reading)
  const entry = (fate: Fate, of: Fields): Entry => {
    const address = textOf(of.resource_address)
    const { kind = 'differs', differences = [] } = known.get(address) ?? {}
    return {
      ...{ fate, address, kind, differences },
      file: textOf(of.file_path),
      reason: textOf(of.reason ?? of.change),
      details: textsOf(of.details),
      remarks: listOf(of.changes).map(objectOf).map(toRemark),
      rule: textOf(of.rule),
    }
  }
  return {
    summary: textOf(fields.summary),
    status,
    entries: [
      ...listOf(fields.unreconciled_drift)
        .map(objectOf)
        .map((of) => entry('left', of)),
      ...listOf(fields.remediated_resources)
        .map(objectOf)
        .map((of) => entry('remediated', of)),
      ...listOf(fields.whitelisted_exceptions)
        .map(objectOf)
        .map((of) => entry('excepted', of)),
    ],
  }
}

const toRemark = ({ attribute_modified, change_description, reason, details }: Fields): Remark => ({
  attribute: textOf(attribute_modified),
  text: textOf(change_description),
  reason: textOf(reason),
  details: textsOf(details),
})

export const countFates = (entries: readonly Entry[]): Record<Fate, number> => {
  const counts = { left: 0, remediated: 0, excepted: 0 }
  for (const { fate, address } of entries) if (address !== '') counts[fate] += 1
  return counts
}

/** Returns the meaning of the status in a sentence. */
export function explainStatus(status: DriftStatus, isPreview: boolean, counts: Record<Fate, number>): string {
  if (isPreview && status === 'Failed') return 'The drift check failed; the reason is below. Nothing was changed.'
  if (isPreview) return 'This was a preview. Neither the code nor the cloud was changed.'
  if (status === 'Partial') return 'Part of the drift was remediated, and some differences remain.'
  if (status === 'Failed') return 'Nothing was remediated: the differences remain, or the drift check failed.'
  return counts.remediated > 0
    ? 'The code now matches what really runs. Only expected differences remain.'
    : 'There are no unexpected differences.'
}

/** Returns the request for a round that remediates only these resources. */
export const requestFor = (addresses: readonly string[]): string =>
  `Bring only ${addresses.join(', ')} in line with what really runs.`

/** One attribute that differs; null where a side does not have it. */
export interface Difference {
  path: string
  code: string | null
  cloud: string | null
}

/** The findings of the engine about one resource. */
export interface Reading {
  address: string
  kind: 'differs' | 'only-code' | 'only-cloud'
  differences: Difference[]
}

/** The maximum number of listed attributes of a resource. */
export const MAX_DIFFERENCES = 200

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
  if (action === 'create resource') return { address, kind: 'only-cloud', differences: attributesOf(changes) }
  if (action === 'update resource') return { address, kind: 'differs', differences: differencesOf(changes) }
  return null
}

const entriesOf = (value: unknown): [string, unknown][] => Object.entries(objectOf(value))

const attributesOf = (object: unknown): Difference[] =>
  entriesOf(object)
    .filter(([, value]) => value !== null)
    .map(([path, value]) => ({ path, code: null, cloud: show(value) }))

function differencesOf(changes: unknown): Difference[] {
  const { changed, added, removed } = Object.fromEntries(entriesOf(changes))
  return [
    ...entriesOf(changed).map(([path, sides]) => {
      const { old_value, new_value } = objectOf(sides)
      return { path, ...apart(old_value, new_value) }
    }),
    ...entriesOf(added).map(([path, value]) => ({ path, code: null, cloud: show(value) })),
    ...entriesOf(removed).map(([path, value]) => ({ path, code: show(value), cloud: null })),
  ]
}

/** Returns both values as text, quoted only where a number or boolean on the other side would look the same. */
function apart(code: unknown, cloud: unknown): { code: string; cloud: string } {
  const shown = { code: show(code), cloud: show(cloud) }
  return shown.code === shown.cloud ? { code: JSON.stringify(code), cloud: JSON.stringify(cloud) } : shown
}

const show = (value: unknown): string => (typeof value === 'string' ? value : (JSON.stringify(value) ?? ''))
