import type { Masker } from '../base/masking.ts'
import { cutEnd, joinNames } from '../base/text.ts'
import { describeChange } from '../plan/actions.ts'
import { stripBackticks, withoutIndexes } from '../plan/addresses.ts'
import { type DriftFact, type DriftOperation, driftFacts, vanishedPart } from '../plan/drift.ts'
import type { BeyondTargets } from '../plan/targets.ts'
import { type DriftReport, finishReport, reportSchemas } from './schemas.ts'

/** Facts of a drift round; all operations are masked. */
export interface DriftFacts {
  /** Every address that differed during the round, as first read. */
  detected: readonly DriftOperation[]
  /** Those that the round wrote into the code and that its last reading shows no more; default: all that are gone. */
  written?: readonly DriftOperation[]
  /** Last differences that no exception rule covers. */
  remaining: readonly DriftOperation[]
  /** Addresses of those that the request does not ask for. */
  unasked?: ReadonlySet<string>
  /** Last differences that an exception rule covers. */
  excepted: readonly DriftOperation[]
  /** Remarks of the exception filter about the rules. */
  notes: readonly string[]
  /** Reason why drift could not be read at the beginning or end; null when it could. */
  failure: string | null
  /** Files that the round's commits changed. */
  changedFiles: readonly string[]
  /** Tells which of them is about an address; empty when unknown. */
  fileOf?: (address: string) => string
  /** True if neither code nor state has a resource, so that there was nothing to compare. */
  isEmpty?: boolean
  /** Addresses that were looked at, with what they depend on; empty for the whole root. */
  targets?: readonly string[]
  /** Whole-root changes outside the targets; null for a round without targets or changes. */
  beyond: BeyondTargets | null
}

type Remediated = DriftReport['remediated_resources'][number]
type Unreconciled = DriftReport['unreconciled_drift'][number]
type Whitelisted = DriftReport['whitelisted_exceptions'][number]

const STILL_THERE = 'The last plan still shows this difference.'
const NOT_ASKED = 'The request does not ask for it, so it was left alone.'
const NOT_READ_AGAIN = 'It could not be read again whether this difference is gone.'
const UNREADABLE = 'The drift could not be read.'
const MAX_TEXT = 4_000
const NO_DRIFT = 'No drift was found: a plan of the whole root shows no difference.'
const noDriftIn = (targets: readonly string[]) =>
  targets.length === 0 ? NO_DRIFT : `No drift was found. ${lookedAt(targets)}`
const lookedAt = (targets: readonly string[]) =>
  `Nothing but ${joinNames(targets, 8)} and what it depends on was looked at.`
export const NOTHING_TO_COMPARE = 'Nothing was compared: neither the code of this root nor its state has a resource.'

/**
 * Settles the stored report: status, addresses and differences come from plans and commits, the prose from the model.
 * Entries about other addresses are removed, missing ones added.
 * @param narration the model's report
 * Errors: `ReportGenerationError` `report 'drift' generation error.`
 */
export function settleDriftReport(narration: DriftReport, facts: DriftFacts, masker: Masker): DriftReport {
  const remediated = remediatedOperations(facts).map((operation) => remediatedEntry(narration, operation, facts))
  const unreconciled = unreconciledEntries(narration, facts)
  // What the request does not ask for is left on purpose.
  const status = unreconciled.every(({ reason }) => reason === NOT_ASKED)
    ? 'Succeeded'
    : remediated.length > 0
      ? 'Partial'
      : 'Failed'
  const document = {
    summary: summaryOf(narration, facts, { status, remediated }),
    status,
    remediated_resources: remediated,
    unreconciled_drift: unreconciled,
    whitelisted_exceptions: facts.excepted.map((operation) => whitelistedEntry(narration, operation, facts.notes)),
  }
  return finishReport('drift', reportSchemas.drift, document, masker)
}

/**
 * Returns what the round wrote into the code and what no longer differs, without expected attributes. A round without a
 * commit wrote nothing.
 */
function remediatedOperations({ detected, written, remaining, excepted, changedFiles }: DriftFacts): DriftOperation[] {
  if (changedFiles.length === 0) return []
  const left = new Set(remaining.map(({ address }) => address))
  const isWritten = (address: string) => written?.some((operation) => operation.address === address) ?? true
  const expected = (address: string) => excepted.find((operation) => operation.address === address)
  return detected
    .filter(({ address }) => !left.has(address) && isWritten(address))
    .flatMap((operation) => vanishedPart(operation, expected(operation.address)) ?? [])
}

function remediatedEntry(
  narration: DriftReport,
  operation: DriftOperation,
  { changedFiles, fileOf = () => '' }: DriftFacts,
): Remediated {
  const entries = entriesAbout(narration.remediated_resources, operation.address)
  const changes = firstOfEach(
    entries.flatMap((entry) => entry.changes),
    ({ attribute_modified }) => comparable(attribute_modified),
  )
  const narratedAttributes = new Set(changes.map(({ attribute_modified }) => comparable(attribute_modified)))
  const missing = driftFacts(operation).filter(({ attribute }) =>
    attribute === '' ? changes.length === 0 : !narratedAttributes.has(comparable(attribute)),
  )
  const only = changedFiles.length === 1 ? changedFiles[0] : undefined
  const files = entries.map(({ file_path }) => file_path.trim().replace(/^\.\//, ''))
  return {
    file_path: files.find((file) => changedFiles.includes(file)) ?? only ?? fileOf(operation.address),
    resource_address: operation.address,
    changes: [...changes, ...missing.map(describeFact)],
  }
}

function unreconciledEntries(narration: DriftReport, { remaining, failure, unasked }: DriftFacts): Unreconciled[] {
  const entries = remaining.map((operation) => {
    const narrated = entriesAbout(narration.unreconciled_drift, operation.address)
    return {
      resource_address: operation.address,
      reason:
        (unasked?.has(operation.address) && NOT_ASKED) ||
        narrated[0]?.reason ||
        (failure === null ? STILL_THERE : NOT_READ_AGAIN),
      details: joinDetails(
        driftFacts(operation),
        narrated.flatMap(({ details }) => details),
      ),
    }
  })
  return failure === null
    ? entries
    : [{ resource_address: '', reason: UNREADABLE, details: [shorten(failure)] }, ...entries]
}

/** Returns the differences, then the model's details that are about none of their attributes. */
function joinDetails(facts: readonly DriftFact[], narrated: readonly string[]): string[] {
  const attributes = facts.map(({ attribute }) => comparable(attribute)).filter((attribute) => attribute !== '')
  const repeats = (detail: string) => attributes.some((attribute) => comparable(detail).startsWith(attribute))
  return [...new Set([...facts.map(({ text }) => text), ...narrated.filter((detail) => !repeats(detail))])]
}

/** Returns a path or text in one spelling, whichever of `a["b"]`, `a.b` and backticks a model writes. */
const comparable = (text: string): string =>
  text
    .trim()
    .replaceAll('`', '')
    .replaceAll(/\["?([^"\]]*)"?\]/g, '.$1')

function firstOfEach<Item>(items: readonly Item[], keyOf: (item: Item) => string): Item[] {
  const keys = new Set<string>()
  return items.filter((item) => keys.size < keys.add(keyOf(item)).size)
}

function whitelistedEntry(narration: DriftReport, operation: DriftOperation, notes: readonly string[]): Whitelisted {
  const [narrated] = entriesAbout(narration.whitelisted_exceptions, operation.address)
  const differs = driftFacts(operation)
    .map(({ text }) => text)
    .join('; ')
  return {
    resource_address: operation.address,
    change: narrated?.change || shorten(differs),
    rule: narrated?.rule || shorten(notes.join('\n')),
  }
}

/** Starts the summary with the counts; the model's summary follows if it states the same status. */
function summaryOf(
  narration: DriftReport,
  facts: DriftFacts,
  settled: { status: DriftReport['status']; remediated: readonly Remediated[] },
): string {
  const { detected, remaining, excepted, failure, beyond, isEmpty, targets = [] } = facts
  if (detected.length === 0 && failure === null) return isEmpty ? NOTHING_TO_COMPARE : noDriftIn(targets)
  // A resource that is expected to differ in part may be in two lists.
  const differing = [...remaining, ...excepted].map(({ address }) => address)
  const told = new Set([...differing, ...settled.remediated.map(({ resource_address }) => resource_address)])
  const vanished = detected.length - told.size
  const counts = [
    `${countResources(detected.length)} differed: ${settled.remediated.length} remediated, ${remaining.length} left`,
    `${excepted.length} expected to differ by the exception rules`,
  ].join(', ')
  const sentences = [
    detected.length > 0 ? `${counts}.` : '',
    vanished > 0 ? `${countResources(vanished)} agreed again without a change of the code.` : '',
    failure === null ? '' : UNREADABLE,
    narration.status === settled.status ? narration.summary.trim() : '',
  ]
  if (targets.length > 0 && failure === null && !beyond) sentences.push(lookedAt(targets))
  const text = sentences.filter((sentence) => sentence !== '').join(' ')
  return beyond ? `${text}\n\n${describeUnseen(beyond)}` : text
}

const MAX_UNSEEN = 50

/** Describes what a round of some targets left out: a sentence, then a line for each difference with its values. */
function describeUnseen(beyond: BeyondTargets): string {
  if (!beyond.made) return `Whether anything else differs was not looked at, and could not be: ${beyond.reason}`
  const { changes, operations = [] } = beyond
  if (changes.length === 0) return 'A plan of the whole root shows no other difference.'
  const lines = changes.slice(0, MAX_UNSEEN).map((change) => {
    const operation = operations.find((one) => one.address === change.address)
    const facts = operation ? driftFacts(operation).map(({ text }) => text) : []
    return `- ${describeChange(change)}${facts.length > 0 ? `: ${shorten(facts.join('. '))}` : ''}`
  })
  const more = changes.length > MAX_UNSEEN ? [`- and ${changes.length - MAX_UNSEEN} more`] : []
  const count = changes.length === 1 ? '1 more difference' : `${changes.length} more differences`
  return [
    `This round was about a part of the root. A plan of the whole root shows ${count}, which it left alone; ` +
      'whether they are drift or code that is not applied yet was not looked at:',
    ...lines,
    ...more,
  ].join('\n')
}

const countResources = (number: number) => (number === 1 ? '1 resource' : `${number} resources`)
const shorten = (text: string) => cutEnd(text, MAX_TEXT)

type Change = DriftReport['remediated_resources'][number]['changes'][number]

/** Returns the model's entries about an address, with or without backticks, preferably with its indexes. */
function entriesAbout<Entry extends { resource_address: string }>(entries: readonly Entry[], address: string): Entry[] {
  const entriesFor = (form: string) => entries.filter((entry) => stripBackticks(entry.resource_address) === form)
  const exact = entriesFor(address)
  return exact.length > 0 ? exact : entriesFor(withoutIndexes(address))
}

/** Describes a remediated attribute that the model did not mention. */
const describeFact = ({ attribute, text }: DriftFact): Change => ({
  attribute_modified: attribute,
  change_description: 'The code was brought in line with the infrastructure.',
  details: [`Before: ${text}`],
  reason: '',
})

const DIFFERS = 'Code and infrastructure differ here. This was a preview, so nothing was changed.'

/**
 * Settles the report of a drift preview, like a drift round that remediated nothing. The status states whether drift
 * could be read: a preview that finds drift has succeeded.
 * @param seen all operations are masked
 * Errors: `ReportGenerationError` `report 'drift' generation error.`
 */
export function settleDriftPreview(
  seen: Pick<DriftFacts, 'remaining' | 'excepted' | 'notes' | 'failure' | 'isEmpty' | 'targets'>,
  masker: Masker,
): DriftReport {
  const { remaining, excepted, failure, isEmpty } = seen
  const narration: DriftReport = {
    summary: '',
    status: 'Failed',
    remediated_resources: [],
    unreconciled_drift: remaining.map(({ address }) => ({ resource_address: address, reason: DIFFERS, details: [] })),
    whitelisted_exceptions: [],
  }
  const facts: DriftFacts = { ...seen, detected: [...remaining, ...excepted], changedFiles: [], beyond: null }
  const settled = settleDriftReport(narration, facts, masker)
  if (failure !== null) return { ...settled, summary: 'The drift could not be read. Nothing was changed.' }
  const isRemaining = (address: string) => remaining.some((operation) => operation.address === address)
  const more = excepted.filter(({ address }) => !isRemaining(address)).length
  const summary = isEmpty ? NOTHING_TO_COMPARE : previewSummary(remaining.length, more, seen.targets ?? [])
  return { ...settled, status: 'Succeeded', summary }
}

function previewSummary(remaining: number, excepted: number, targets: readonly string[]): string {
  if (remaining + excepted === 0) return noDriftIn(targets)
  const resources = remaining === 1 ? '1 resource differs' : `${remaining} resources differ`
  const found = `Preview: ${resources}, and ${excepted} more as the exception rules expect. Nothing was changed.`
  return targets.length > 0 ? `${found} ${lookedAt(targets)}` : found
}
