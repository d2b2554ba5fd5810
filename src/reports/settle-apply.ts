import type { Masker } from '../base/masking.ts'
import { cutEnd, joinNames } from '../base/text.ts'
import { type PlannedChange, STATE_ACTIONS, type StateAction } from '../plan/actions.ts'
import { withoutIndexes } from '../plan/addresses.ts'
import type { StateChange } from '../plan/change-list.ts'
import type { ApplyResult } from '../rounds/applies.ts'
import { type ApplyReport, finishReport, reportSchemas } from './schemas.ts'

/** The report's entry about one effect of a planned change. */
type Entry = ApplyReport['resource_changes'][number]

type Status = ApplyReport['status']

/** The effects of a planned change, in the order in which the report lists them. */
const EFFECTS_OF: Record<PlannedChange['action'], readonly Effect[]> = {
  create: ['created'],
  update: ['updated'],
  delete: ['destroyed'],
  replace: ['destroyed', 'created'],
}

const effectsPlanned = ({ action, keeps_old }: PlannedChange): readonly Effect[] =>
  keeps_old ? ['created'] : EFFECTS_OF[action]

const DONE: Record<Effect, string> = { created: 'Created.', updated: 'Changed in place.', destroyed: 'Destroyed.' }

const doneText = ({ keeps_old }: PlannedChange, effect: Effect): string =>
  keeps_old ? `${DONE[effect]} The object before it was removed from the state and still exists.` : DONE[effect]

const PLANNED: Record<Effect, string> = { created: 'creation', updated: 'change in place', destroyed: 'destruction' }

/**
 * Creates an apply's report from facts alone: the planned changes and the engine's output.
 * @param inState what the plan does in the state alone
 */
export function applyFacts(
  result: ApplyResult,
  planned: readonly PlannedChange[],
  inState: readonly StateChange[] = [],
): ApplyReport {
  const refusal = refusalOf(result)
  const facts = refusal ? nothingApplied(refusal.text, planned, [refusal.advice]) : changeFacts(result, planned)
  if (inState.length === 0) return facts
  // An engine that failed in the middle does not tell what it wrote into the state before.
  const isDone = result.kind === 'ran' && result.exit_code === 0
  const fate: StateFate = refusal ? 'failed' : isDone ? 'success' : 'unknown'
  const { total_resources, ...counts } = facts.summary
  const changed = new Set(planned.map(({ address }) => address))
  const alone = new Set(inState.map(({ address }) => address)).difference(changed)
  const done = fate === 'success' ? countInState(inState) : {}
  const told = Object.entries(done).map(([name, count]) => `${count} ${name}`)
  return {
    ...facts,
    summary: { total_resources: total_resources + (result.kind === 'unknown' ? 0 : alone.size), ...counts, ...done },
    execution_summary: [facts.execution_summary, told.length > 0 && `In the state: ${told.join(', ')}.`]
      .filter(Boolean)
      .join(' '),
    state_changes: inState.map(({ address, action, previous_address }) => ({
      ...{ name: address, action, status: fate, summary: IN_STATE[fate][action] },
      ...(previous_address !== undefined && { previous_name: previous_address }),
    })),
  }
}

type StateFate = NonNullable<ApplyReport['state_changes']>[number]['status']

const NOT_KNOWN = 'It is not known whether this was carried out: the next plan shows it.'
const NOT_DONE = 'This was not carried out.'
const IN_STATE: Record<StateFate, Record<StateAction, string>> = {
  success: {
    move: 'Its object has this address now.',
    import: 'The existing object is managed now.',
    forget: 'It is no longer managed; the object stays.',
  },
  failed: { move: NOT_DONE, import: NOT_DONE, forget: NOT_DONE },
  unknown: { move: NOT_KNOWN, import: NOT_KNOWN, forget: NOT_KNOWN },
}

const NAMES_IN_STATE = { move: 'moved', import: 'imported', forget: 'forgotten' } as const

/** Counts by the names of the summary, without those that do not occur. */
function countInState(inState: readonly StateChange[]): Partial<Record<'moved' | 'imported' | 'forgotten', number>> {
  return Object.fromEntries(
    STATE_ACTIONS.flatMap((action) => {
      const count = inState.filter((change) => change.action === action).length
      return count > 0 ? [[NAMES_IN_STATE[action], count]] : []
    }),
  )
}

/** Returns why nothing was applied, and what to do; null when something may have been. */
function refusalOf(result: ApplyResult): { text: string; advice: string } | null {
  if (result.kind === 'refused') return { text: `Nothing was applied: ${result.reason}`, advice: result.advice }
  if (result.kind !== 'ran' || result.exit_code === 0) return null
  const { done, isStale, isLocked } = readApplyOutput(result.stdout, result.stderr)
  if (done.size > 0) return null
  return isStale ? STALE : isLocked ? LOCKED : null
}

function changeFacts(result: ApplyResult, planned: readonly PlannedChange[]): ApplyReport {
  if (result.kind !== 'ran') return unknownOutcome(result.reason, planned)
  const output = readApplyOutput(result.stdout, result.stderr)
  const allDone = result.exit_code === 0
  const resourceChanges = planned.flatMap((change) => entriesOf(change, planned, output, allDone))
  const counts = allDone && output.counts ? output.counts : countsOf(planned, output, allDone)
  const failed = resourceChanges.filter(({ status }) => status === 'failed').length
  const touched = counts.created + counts.updated + counts.destroyed > 0
  const status: Status = allDone ? 'Success' : touched ? 'Partial' : 'Failed'
  const summary = { total_resources: resourceChanges.length, ...counts, failed }
  return {
    summary,
    status,
    execution_summary: [summarise(status, summary), ...unplacedErrors(output, resourceChanges)].join(' '),
    resource_changes: resourceChanges,
    recommendations: allDone
      ? []
      : ['Correct the cause with a generate round, which plans what is left, and apply again.'],
  }
}

const STALE = {
  text:
    'Nothing was applied: the engine refused the plan because the state moved after the plan was made. ' +
    'Something else wrote the state in between.',
  advice: 'Run a generate round, which plans on the state as it stands, and apply then.',
}

const LOCKED = {
  text: 'Nothing was applied: the engine could not lock the state, because its lock is held.',
  advice:
    'Wait for the run that holds it, run a generate round and apply then. A lock that an interrupted engine left behind ' +
    'has to be removed by hand.',
}

function entriesOf(
  change: PlannedChange,
  planned: readonly PlannedChange[],
  output: ApplyOutput,
  allDone: boolean,
): Entry[] {
  const done = effectsOf(change, output)
  const error = allDone ? null : errorOf(change, planned, output)
  return effectsPlanned(change).map((effect, index, effects) => {
    const isLast = index === effects.length - 1
    if (allDone || done.has(effect)) {
      // An error may name a completed resource, for example when a later check fails.
      if (error === null || !isLast) return entryOf(change, effect, 'success', doneText(change, effect))
      return entryOf(change, effect, 'failed', `${doneText(change, effect)} An error followed.`, error.text)
    }
    if (output.begun.get(change.address)?.has(effect) || (error !== null && isLast))
      return entryOf(change, effect, 'failed', `The ${PLANNED[effect]} failed.`, error?.text)
    return entryOf(change, 'no_change', 'failed', `The planned ${PLANNED[effect]} was not reached.`)
  })
}

const entryOf = (
  change: PlannedChange,
  action: Entry['action'],
  status: Entry['status'],
  details: string,
  errorMessage: string | null = null,
): Entry => ({
  resource_type: change.type,
  resource_name: nameOf(change),
  action,
  status,
  details,
  error_message: errorMessage,
})

/**
 * Returns the completed effects of a planned change. With `create_before_destroy` the old object is destroyed last, and
 * the engine then prints its address with ` (deposed object <key>)`.
 */
function effectsOf({ address, action }: PlannedChange, { done }: ApplyOutput): ReadonlySet<Effect> {
  const own = done.get(address) ?? new Set<Effect>()
  if (action !== 'replace') return own
  const deposed = [...done].some(
    ([name, effects]) => name.startsWith(`${address} (deposed object `) && effects.has('destroyed'),
  )
  return deposed ? new Set([...own, 'destroyed']) : own
}

function errorOf(change: PlannedChange, planned: readonly PlannedChange[], output: ApplyOutput): EngineError | null {
  const exact = output.errors.find(({ address }) => address === change.address)
  const ofBlock = () =>
    output.errors.find(({ address, block }) => address === null && block && isOfBlock(change, block, planned, output))
  return exact ?? ofBlock() ?? null
}

/** Reports whether an error that names only a block is about a planned change: its only one, or one that was begun. */
function isOfBlock(
  change: PlannedChange,
  block: string,
  planned: readonly PlannedChange[],
  { begun, done }: ApplyOutput,
): boolean {
  const candidates = planned.filter(({ address }) => isBlockOf(withoutIndexes(address), block))
  if (!candidates.includes(change)) return false
  return candidates.length === 1 || begun.has(change.address) || done.has(change.address)
}

const isBlockOf = (address: string, block: string) => address === block || address.endsWith(`.${block}`)

/** Returns the errors that no entry shows, for the summary. */
function unplacedErrors({ errors }: ApplyOutput, entries: readonly Entry[]): string[] {
  const placed = new Set(entries.map(({ error_message }) => error_message))
  return errors.filter(({ text }) => !placed.has(text)).map(({ text }) => text.replaceAll(/\s+/g, ' '))
}

function countsOf(planned: readonly PlannedChange[], output: ApplyOutput, allDone: boolean) {
  const counts = { created: 0, updated: 0, destroyed: 0 }
  for (const change of planned) {
    const done = effectsOf(change, output)
    for (const effect of effectsPlanned(change)) if (allDone || done.has(effect)) counts[effect]++
  }
  return counts
}

function summarise(status: Status, { created, updated, destroyed, failed }: ApplyReport['summary']): string {
  const counts = `${created} created, ${updated} updated, ${destroyed} destroyed`
  if (status === 'Success') return `The plan was applied: ${counts}.`
  if (status === 'Partial') return `The plan was applied in part: ${counts}, ${failed} failed.`
  return 'The apply failed, and the engine tells of no change that it completed.'
}

function nothingApplied(
  executionSummary: string,
  planned: readonly PlannedChange[],
  recommendations: string[],
): ApplyReport {
  const resourceChanges = planned.flatMap((change) =>
    effectsPlanned(change).map((effect) =>
      entryOf(change, 'no_change', 'failed', `The planned ${PLANNED[effect]} was not carried out.`),
    ),
  )
  const total = resourceChanges.length
  return {
    summary: { total_resources: total, created: 0, updated: 0, destroyed: 0, failed: total },
    status: 'Failed',
    execution_summary: executionSummary,
    resource_changes: resourceChanges,
    recommendations,
  }
}

const MAX_NAMED = 50

function unknownOutcome(reason: string, planned: readonly PlannedChange[]): ApplyReport {
  const addresses = planned.map(({ address }) => address)
  return {
    summary: { total_resources: 0, created: 0, updated: 0, destroyed: 0, failed: 0 },
    status: 'Failed',
    execution_summary:
      `It is not known what this apply changed: ${reason} ` +
      'It may have been carried out wholly, in part or not at all. It is not tried again.',
    resource_changes: [],
    recommendations: [
      ...(addresses.length > 0 ? [`Look at what the plan was to change: ${joinNames(addresses, MAX_NAMED)}.`] : []),
      'See whether the engine still holds the lock of the state; ' +
        'a lock that an interrupted engine left behind has to be removed by hand.',
      'Run a drift round or a generate round: their plans show how infrastructure and code differ now.',
    ],
  }
}

/** Removes the type from an address: `module.net.aws_vpc.main` becomes `module.net.main`. */
function nameOf({ address, type }: PlannedChange): string {
  const module = moduleOf(address)
  const local = address.slice(module.length)
  return local.startsWith(`${type}.`) ? module + local.slice(type.length + 1) : address
}

/** Returns the address of a type and a name from `nameOf`. */
function fullAddress(type: string, name: string): string {
  const module = moduleOf(name)
  return `${module}${type}.${name.slice(module.length)}`
}

const moduleOf = (address: string) =>
  /^(?:module\.[^.[]+(?:\[(?:"(?:\\.|[^"\\])*"|\d+)\])?\.)+/.exec(address)?.[0] ?? ''

/**
 * Settles the stored report: results, counts and status come from facts, the prose from the model. When the model's
 * counts or status differ, or it does not count what was done in the state, the summary begins with the facts.
 * @param narration the model's report; null when it wrote none
 * Errors: `ReportGenerationError` `report 'apply' generation error.`
 */
export function settleApplyReport(narration: ApplyReport | null, facts: ApplyReport, masker: Masker): ApplyReport {
  return finishReport('apply', reportSchemas.apply, narration === null ? facts : narrateFacts(narration, facts), masker)
}

function narrateFacts(narration: ApplyReport, facts: ApplyReport): ApplyReport {
  const agrees =
    facts.state_changes === undefined &&
    narration.status === facts.status &&
    (['created', 'updated', 'destroyed', 'failed'] as const).every(
      (name) => narration.summary[name] === facts.summary[name],
    )
  return {
    ...facts,
    execution_summary: agrees
      ? narration.execution_summary
      : `${facts.execution_summary} ${narration.execution_summary}`,
    resource_changes: facts.resource_changes.map((entry) => ({
      ...entry,
      details: narratedDetails(narration, entry) || entry.details,
    })),
    recommendations: [...facts.recommendations, ...narration.recommendations.filter((text) => text.trim() !== '')],
  }
}

/** Returns the model's words about an entry, found by address, type and name, or name; empty when there are none. */
function narratedDetails(narration: ApplyReport, { resource_type, resource_name, action }: Entry): string {
  const names = [`${resource_type}.${resource_name}`, resource_name, fullAddress(resource_type, resource_name)]
  const match = narration.resource_changes.find(
    (entry) =>
      names.includes(entry.resource_name.trim()) &&
      ['', resource_type].includes(entry.resource_type) &&
      entry.action === action,
  )
  return match?.details.trim() ?? ''
}

/** An effect of an apply on an object. */
type Effect = 'created' | 'updated' | 'destroyed'

interface EngineError {
  /** Address of the resource that the error names; null when it names none. */
  address: string | null
  /** Type and name of the block that the error names, for example `aws_vpc.main`; null when it names none. */
  block: string | null
  /** Error text without Terraform's frame; at most 2,000 characters. */
  text: string
}

/** Facts from the output of an apply, which OpenTofu and Terraform print alike. */
interface ApplyOutput {
  /** Completed effects, by address. */
  done: Map<string, Set<Effect>>
  /** Begun effects, completed or not, by address. */
  begun: Map<string, Set<Effect>>
  /** Counts in the closing line; null when there is none, because the apply failed. */
  counts: { created: number; updated: number; destroyed: number } | null
  errors: EngineError[]
  /** True if the engine refused the plan because its state is outdated. */
  isStale: boolean
  /** True if the engine could not lock the state. */
  isLocked: boolean
}

const COMPLETED = /^(.+?): (Creation|Modifications|Destruction) complete after \S+/
const BEGUN = /^(.+?): (Creating|Modifying|Destroying)\.\.\./
/** The closing line; OpenTofu also counts what was only removed from the state. */
const CLOSING =
  /^Apply complete! Resources: (?:\d+ imported, )?(\d+) added, (\d+) changed, (\d+) destroyed(?:, \d+ forgotten)?\./
const EFFECTS: Record<string, Effect> = {
  Creation: 'created',
  Modifications: 'updated',
  Destruction: 'destroyed',
  Creating: 'created',
  Modifying: 'updated',
  Destroying: 'destroyed',
}

/** Reads the output of an apply line by line. */
export function readApplyOutput(stdout: string, stderr: string): ApplyOutput {
  const done = new Map<string, Set<Effect>>()
  const begun = new Map<string, Set<Effect>>()
  let counts: ApplyOutput['counts'] = null
  for (const line of stdout.split('\n')) {
    const closing = CLOSING.exec(line)
    if (closing) {
      counts = { created: Number(closing[1]), updated: Number(closing[2]), destroyed: Number(closing[3]) }
      // Outputs follow; their text is arbitrary and may imitate lines of the engine.
      break
    }
    addEffect(done, COMPLETED.exec(line))
    addEffect(begun, BEGUN.exec(line))
  }
  return {
    done,
    begun,
    counts,
    errors: readErrors(stderr),
    isStale: /^[│\s]*Error: Saved plan is stale/m.test(stderr),
    isLocked: /^[│\s]*Error: Error acquiring the state lock/m.test(stderr),
  }
}

function addEffect(effects: Map<string, Set<Effect>>, match: RegExpExecArray | null): void {
  const [, address = '', what = ''] = match ?? []
  const effect = EFFECTS[what]
  if (effect) effects.set(address, (effects.get(address) ?? new Set()).add(effect))
}

const MAX_ERROR = 2_000

function readErrors(stderr: string): EngineError[] {
  const plain = stderr
    .split('\n')
    .filter((line) => !/^[╷╵]\s*$/.test(line))
    .map((line) => line.replace(/^│ ?/, ''))
  const blocks: string[][] = []
  for (const line of plain) {
    if (/^(?:Error|Warning): /.test(line)) blocks.push([line])
    else blocks.at(-1)?.push(line)
  }
  return blocks
    .filter(([title]) => title?.startsWith('Error: '))
    .map((lines) => {
      const text = lines.join('\n').trim()
      const address = /^\s+with (.+),$/m.exec(text)?.[1] ?? null
      const [, type, name] = /^\s+on .+ line \d+, in resource "([^"]+)" "([^"]+)":$/m.exec(text) ?? []
      const block = type === undefined ? null : `${type}.${name}`
      return { address, block, text: cutEnd(text, MAX_ERROR) }
    })
}
