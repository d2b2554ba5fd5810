import type { Masker } from '../base/masking.ts'
import { cutMiddle, joinNames } from '../base/text.ts'
import { type PlannedChange, STATE_ACTIONS, type StateAction, toReportAction, toReportCounts } from '../plan/actions.ts'
import { localName, stripBackticks, withoutIndexes } from '../plan/addresses.ts'
import { type ChangeList, listChanges, type StateChange, stateChanges } from '../plan/change-list.ts'
import { CRITICALITY_IN_WORDS, criticalChanges, higherImpact, impactFloor, impactReasons } from '../plan/impact.ts'
import type { Plan } from '../plan/plan.ts'
import { planCounts, plannedChanges } from '../plan/planned-changes.ts'
import { BEYOND_TITLE, type BeyondTargets, describeBeyondTargets, isBeyondTitle } from '../plan/targets.ts'
import { emptyResult, type RoundResult } from '../rounds/round-result.ts'
import { ADDITIONS_TITLE, type Addition, describeAdditions } from '../rules/intent/additions.ts'
import { describeResults, INTENT_TITLE, isIntentTitle } from '../rules/intent/describe.ts'
import type { StatementResult } from '../rules/intent/statement.ts'
import { finishReport, type GenerateNarration, type GenerateReport, reportSchemas } from './schemas.ts'

/** Maximum characters of one remark at the beginning of the summary. */
const MAX_GAP = 600

type Entry = GenerateReport['detailed_changes'][number]
type NarratedEntry = GenerateNarration['detailed_changes'][number]
type Banner = GenerateReport['potential_impact']['banner']
type Point = GenerateReport['potential_impact']['bullet_points'][number]

/** Facts for the report beside the model's prose and the plan. */
interface KnownBesides {
  /** Changes outside the targets; null for a plan of the whole root. */
  beyond?: BeyondTargets | null
  /** Results of the request's statements; without any the report omits the check. */
  checked?: readonly StatementResult[]
  /** What the plan creates beside the request. */
  additions?: readonly Addition[]
  /** Results of the round: assumptions, other people's changes in it, and remarks. */
  result?: RoundResult
}

/**
 * Settles the stored report. Code provides counts, changes, the lowest impact level, the total of the costs, changes
 * outside the targets, the check against the request and facts of the round; the model provides the prose. Entries
 * about unchanged resources are removed, missing ones added.
 * @param narration the model's report
 * Errors: `ReportGenerationError` `report 'generate' generation error.`
 */
export function settleGenerateReport(
  narration: GenerateNarration,
  plan: Plan,
  masker: Masker,
  known: KnownBesides = {},
): GenerateReport {
  const impact = narration.potential_impact
  // The finished report is masked as a whole.
  const listed = listChanges(plan, { text: (value) => value })
  const inState = stateChanges(listed.entries)
  const document = {
    ...narration,
    summary: { ...toReportCounts(planCounts(plan)), ...countStateChanges(listed.counts) },
    detailed_changes: settleChanges(narration.detailed_changes, plannedChanges(plan)),
    potential_impact: {
      ...impact,
      banner: settleBanner(impact.banner, plan),
      summary: beginWithGaps(impact.summary, [describeUnknown(plan), describeForgotten(inState)], known),
      bullet_points: settlePoints(impact.bullet_points, known),
    },
    estimated_costs: settleCosts(narration.estimated_costs),
    ...listStateChanges(inState),
  }
  return finishReport('generate', reportSchemas.generate, document, masker)
}

const HAPPENS: Record<PlannedChange['action'], string> = {
  create: 'Will be created.',
  update: 'Will be changed in place.',
  delete: 'Will be destroyed.',
  replace: 'Will be destroyed and created again.',
}

const happens = ({ action, keeps_old }: PlannedChange): string =>
  keeps_old ? 'Will be created again; the old object is removed from the state and stays.' : HAPPENS[action]

const CHANGES_STATE: Record<StateAction, string> = {
  move: 'Keeps its object, at another address.',
  import: 'An existing object comes under management.',
  forget: 'Is no longer managed; the object stays.',
}

/** Counts moves, imports and forgotten objects; those that do not occur are left out. */
function countStateChanges(counts: ChangeList['counts']): Partial<Record<StateAction, number>> {
  return Object.fromEntries(STATE_ACTIONS.flatMap((action) => (counts[action] > 0 ? [[action, counts[action]]] : [])))
}

/** Lists them; no field where there are none. */
function listStateChanges(changes: readonly StateChange[]): Pick<GenerateReport, 'state_changes'> {
  if (changes.length === 0) return {}
  return {
    state_changes: changes.map(({ address, action, previous_address }) => ({
      ...{ name: address, action, summary: CHANGES_STATE[action] },
      ...(previous_address !== undefined && { previous_name: previous_address }),
    })),
  }
}

function settleChanges(narrated: readonly NarratedEntry[], changes: readonly PlannedChange[]): Entry[] {
  return changes.map((change) => {
    const { address } = change
    const action = toReportAction(change.action)
    const entry = findEntry(narrated, address)
    if (!entry) return { name: address, action, notes: '', summary: happens(change), details: '' }
    return { ...entry, name: address, action, summary: entry.summary || happens(change) }
  })
}

/** Finds the model's entry by full address, address without indexes, type and name, or name. */
function findEntry(narrated: readonly NarratedEntry[], address: string): NarratedEntry | undefined {
  const resource = withoutIndexes(address)
  const local = localName(address)
  const name = local.split('.').at(-1)
  for (const form of [address, resource, local, name]) {
    const entry = narrated.find((candidate) => stripBackticks(candidate.name) === form)
    if (entry) return entry
  }
  return undefined
}

/** Puts what the round left out, could not check or cannot tell before the model's summary. */
function beginWithGaps(summary: string, ofPlan: readonly string[], { result = emptyResult() }: KnownBesides): string {
  const gaps = [...result.gaps, ...ofPlan].map((gap) => cutMiddle(gap, MAX_GAP))
  return [...gaps, summary].filter((text) => text !== '').join(' ')
}

/** Replaces the model's entries about facts that code provides. */
function settlePoints(
  narrated: readonly Point[],
  { beyond = null, checked = [], additions = [], result = emptyResult() }: KnownBesides,
): Point[] {
  const isOfCode = (title: string) =>
    isBeyondTitle(title) || isIntentTitle(title) || title === ADDITIONS_TITLE || isBackgroundTitle(title)
  const points = narrated.filter(({ title }) => !isOfCode(title))
  if (checked.length > 0) points.push({ title: INTENT_TITLE, description: describeResults(checked) })
  if (additions.length > 0) points.push({ title: ADDITIONS_TITLE, description: describeAdditions(additions) })
  if (beyond) points.push({ title: BEYOND_TITLE, description: describeBeyondTargets(beyond) })
  return [...points, ...backgroundPoints(result)]
}

function settleBanner(banner: Banner, plan: Plan): Banner {
  const level = higherImpact(banner.level, impactFloor(plan))
  if (level === banner.level) return banner
  const reasons = impactReasons(plan).filter((reason) => reason.level === level)
  const changes = joinNames(reasons.map(describeReason), 10)
  return { ...banner, level, description: `${banner.description} Raised to ${level} because of ${changes}.`.trim() }
}

function describeUnknown(plan: Plan): string {
  const lost = criticalChanges(plan).filter(({ criticality }) => criticality === 'unknown')
  const names = joinNames(
    lost.map(({ address, action }) => `${address} (${FATES[action]})`),
    10,
  )
  return lost.length === 0 ? '' : `It cannot be told whether this holds data or grants access: ${names}.`
}

function describeForgotten(changes: readonly StateChange[]): string {
  const names = changes.filter(({ action }) => action === 'forget')
  if (names.length === 0) return ''
  return `Stays as it is, but is no longer managed: ${joinNames(
    names.map(({ address }) => address),
    10,
  )}.`
}

const FATES = { delete: 'destroyed', replace: 'replaced', forget: 'no longer managed' } as const

const describeReason = ({ address, action, criticality }: ReturnType<typeof impactReasons>[number]): string =>
  `${address} (${[FATES[action], criticality && CRITICALITY_IN_WORDS[criticality]].filter(Boolean).join(', ')})`

/** Titles of the report entries that code creates from facts beside the plan. */
const TITLES = {
  assumptions: 'Assumptions',
  drift: 'Changes of others taken over',
  notes: 'What was checked, and what was not',
} as const

/** Reports whether code creates the entries of this title, which replace the model's. */
export const isBackgroundTitle = (title: string): boolean =>
  Object.values(TITLES).some((known) => known.toLowerCase() === title.trim().toLowerCase())

/** Returns the entries, one line `- …` for each item; parts without items have none. */
function backgroundPoints(result: Pick<RoundResult, keyof typeof TITLES>): { title: string; description: string }[] {
  const leads = {
    assumptions: 'The request left this open, and the code assumes:',
    drift: 'Others had changed this in the infrastructure, and the code now says the same:',
    notes: 'Remarks of code:',
  }
  return (['assumptions', 'drift', 'notes'] as const)
    .filter((part) => result[part].length > 0)
    .map((part) => ({
      title: TITLES[part],
      description: cutMiddle([leads[part], ...result[part].map((item) => `- ${item}`)].join('\n'), 4_000),
    }))
}

type NarratedCosts = GenerateNarration['estimated_costs']
type NarratedRow = NarratedCosts['breakdown'][number]
type Costs = GenerateReport['estimated_costs']
type CostRow = Costs['breakdown'][number]

const toCents = (value: number) => Math.round(value * 100) / 100

/**
 * Settles the costs of a report. The total is the sum of the rows' fixed amounts; amounts of usage-priced or free rows
 * move to their notes. The introduction begins with what the change saves or adds, and states amounts in other
 * currencies; the note of a row has its own difference.
 */
export function settleCosts(costs: NarratedCosts): Costs {
  const { currency, breakdown } = costs
  const rows = breakdown.map((row) => settleRow(row, currency))
  const total = toCents(rows.reduce((sum, row) => sum + row.fixed_monthly_cost, 0))
  const others = foreignCurrencies(breakdown, currency)
  const remark =
    others.length > 0
      ? `Notes name amounts in ${others.join(' and ')}; every amount of the table counts as ${currency}, none was ` +
        'converted.'
      : ''
  const introduction = [describeSavings(breakdown, currency), costs.introduction_paragraph.trim(), remark]
    .filter((text) => text !== '')
    .join(' ')
  return { ...costs, total_fixed_monthly_cost: total, introduction_paragraph: introduction, breakdown: rows }
}

function settleRow({ fixed_monthly_cost_before: before, ...row }: NarratedRow, currency: string): CostRow {
  const after = row.fixed_monthly_cost
  const isFixed = row.pricing_model === 'fixed'
  const isCounted = isFixed || after === 0
  const remarks = [
    isCounted ? '' : `${money(currency, after)} is not fixed and is not part of the total.`,
    isFixed && before === null ? 'What it costs today is not known.' : '',
    isFixed && before ? `${describeDifference(before, after, currency)}.` : '',
  ]
  const notes = [row.notes.trim(), ...remarks].filter((text) => text !== '').join(' ')
  return { ...row, fixed_monthly_cost: isCounted ? after : 0, notes: notes === '' ? row.notes : notes }
}

/**
 * Compares what fixed resources cost before and after, where both are known; empty where nothing had a price before.
 */
function describeSavings(rows: readonly NarratedRow[], currency: string): string {
  const fixed = rows.filter(({ pricing_model }) => pricing_model === 'fixed')
  const unknown = fixed.filter(({ fixed_monthly_cost_before: before }) => before === null)
  const known = fixed.flatMap(({ fixed_monthly_cost_before: before, fixed_monthly_cost: after }) =>
    before == null ? [] : [{ before, after }],
  )
  const left =
    unknown.length === 0
      ? ''
      : `What ${joinNames(
          unknown.map(({ resource_type }) => resource_type),
          5,
        )} costs today is not known.`
  if (known.every(({ before }) => before === 0)) return left
  const sum = (of: 'before' | 'after') => toCents(known.reduce((total, row) => total + row[of], 0))
  const usage = rows.some(({ pricing_model }) => pricing_model === 'usage_based')
    ? ' What depends on use is in neither amount.'
    : ''
  return `Fixed cost a month: ${describeDifference(sum('before'), sum('after'), currency)}.${usage} ${left}`.trim()
}

function describeDifference(before: number, after: number, currency: string): string {
  const difference = toCents(after - before)
  const words =
    difference === 0 ? 'no difference' : `${money(currency, Math.abs(difference))} ${difference < 0 ? 'less' : 'more'}`
  return `${money(currency, before)} before, ${money(currency, after)} after, ${words}`
}

const money = (currency: string, amount: number): string => `${currency} ${amount.toFixed(2)}`

const SIGNS: Record<string, string> = { '€': 'EUR', '£': 'GBP', '¥': 'JPY' }
const CODES = 'USD|EUR|GBP|JPY|CHF|CAD|AUD|INR|BRL|CNY|SEK|NOK|DKK|PLN'
const AMOUNT = new RegExp(`([€£¥])\\s?\\d|\\d\\s?([€£¥])|\\b(${CODES})\\s?\\d|\\d\\s?(${CODES})\\b`, 'g')

/** Returns the distinct currencies of amounts in notes, except the report's own. */
function foreignCurrencies(rows: readonly CostRow[], currency: string): string[] {
  const named = rows.flatMap(({ notes }) =>
    [...notes.matchAll(AMOUNT)].map(([, before, after, code, codeAfter]) => {
      const sign = before ?? after
      return sign === undefined ? (code ?? codeAfter ?? '') : (SIGNS[sign] ?? '')
    }),
  )
  return [...new Set(named)].filter((name) => name !== '' && name !== currency)
}
