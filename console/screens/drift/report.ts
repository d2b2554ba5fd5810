import type { Difference, Reading } from './operations.ts'

export type DriftStatus = 'Succeeded' | 'Partial' | 'Failed'
export type Fate = 'left' | 'mended' | 'excepted'

/** What a model said about one attribute that was mended. */
export interface Said {
  attribute: string
  text: string
  reason: string
  details: string[]
}

/** One resource of a drift report. */
export interface Entry {
  fate: Fate
  /** Empty for what is about no resource, such as a plan that could not be made. */
  address: string
  /** Where the code stands; empty when that is not known. */
  file: string
  reason: string
  details: string[]
  said: Said[]
  /** The exception rule that covers it. */
  rule: string
  kind: Reading['kind']
  differences: Difference[]
}

export interface DriftReport {
  summary: string
  status: DriftStatus
  entries: Entry[]
}

type Fields = Record<string, unknown>

/**
 * Reads a drift report, and puts to each resource what the engine had found about it. Null when it is no such report.
 * @param readings of the round, the first one first; where several tell of a resource, the first one counts, because
 *   later ones no longer show what was mended
 */
export function readReport(document: unknown, readings: readonly Reading[]): DriftReport | null {
  const fields = fieldsOf(document)
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
      said: listOf(of.changes).map(toSaid),
      rule: textOf(of.rule),
    }
  }
  return {
    summary: textOf(fields.summary),
    status,
    entries: [
      ...listOf(fields.unreconciled_drift).map((of) => entry('left', of)),
      ...listOf(fields.remediated_resources).map((of) => entry('mended', of)),
      ...listOf(fields.whitelisted_exceptions).map((of) => entry('excepted', of)),
    ],
  }
}

const toSaid = ({ attribute_modified, change_description, reason, details }: Fields): Said => ({
  attribute: textOf(attribute_modified),
  text: textOf(change_description),
  reason: textOf(reason),
  details: textsOf(details),
})

const fieldsOf = (value: unknown): Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {}
const listOf = (value: unknown): Fields[] => (Array.isArray(value) ? value.map(fieldsOf) : [])
const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')
const textsOf = (value: unknown): string[] => (Array.isArray(value) ? value.map(textOf).filter(Boolean) : [])

export const countFates = (entries: readonly Entry[]): Record<Fate, number> => {
  const counts = { left: 0, mended: 0, excepted: 0 }
  for (const { fate, address } of entries) if (address !== '') counts[fate] += 1
  return counts
}

/** What the status of a report means, in a sentence. */
export function explainStatus(status: DriftStatus, isPreview: boolean, counts: Record<Fate, number>): string {
  if (isPreview && status === 'Failed')
    return 'What differs could not be read; the reason is below. Nothing was changed.'
  if (isPreview) return 'This round only looked. Neither the code nor the cloud was changed.'
  if (status === 'Partial') return 'Some of the code was mended, and some differences are left.'
  if (status === 'Failed') return 'Nothing was mended: what differed still does, or it could not be read.'
  return counts.mended > 0
    ? 'The code now says what really runs. Nothing is left that is not expected to differ.'
    : 'Nothing differs that is not expected to.'
}

/** The request for a round that mends only these resources. */
export const requestFor = (addresses: readonly string[]): string =>
  `Bring only ${addresses.join(', ')} in line with what really runs.`
