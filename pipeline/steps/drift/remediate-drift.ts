import { cutMiddle } from '../../../src/base/text.ts'
import { filterDriftExceptions } from '../../../src/chains/filter-drift-exceptions.ts'
import { filterReconciliation } from '../../../src/chains/filter-reconciliation.ts'
import { writeOperationsQuery } from '../../../src/chains/iac-generator.ts'
import { taskSplitter } from '../../../src/chains/task-splitter.ts'
import { newAddresses } from '../../../src/plan/changes.ts'
import type { DriftOperation } from '../../../src/plan/drift.ts'
import { hasMatchingTarget } from '../../../src/plan/targets.ts'
import { storeDrift } from '../../../src/reports/artifacts.ts'
import type { Kit } from '../../kit/kit.ts'
import { runChain } from '../../kit/run-chain.ts'
import type { Conventions } from '../shared/compose-prompts.ts'
import { generateAndValidate } from '../shared/generate-and-validate.ts'
import type { ValidPlan } from '../shared/plan.ts'
import { planValidator } from '../shared/validators.ts'
import { coveredByRules, createExceptionLedger, type ExceptionLedger } from './excepted-drift.ts'
import { readDrift, unreadablePlan } from './read-drift.ts'

export interface DriftTask {
  /** A plan to begin with; none: the targets are planned. */
  valid: ValidPlan | null
  targets: string[]
  /** Leave out what the session's own commits explain; else every difference is drift, and a target has to name something. */
  filter_session_changes: boolean
  /** Addresses that this round imported. */
  imported?: ReadonlySet<string>
  conventions: Conventions
  max_iterations: number
}

export interface DriftResult {
  in_sync: boolean
  /** Drift that is left, as last read, without what exception rules cover. */
  remaining: DriftOperation[]
  /** Drift that is left and expected, as last read. */
  excepted: DriftOperation[]
  /** Every address that differed at some time, as it was first read. */
  detected: DriftOperation[]
  /** What the engine said when drift could not be read; null otherwise. */
  feedback: string | null
  /** The last plan; null when there was none. */
  valid: ValidPlan | null
  /** What the exception rules covered, in the words of the filter. */
  exclusions: string[]
}

/** The texts that end the phase, in the words of the contract. */
const ASSESSING = 'Assessing drift on the targeted infrastructure.'
const OWN_CHANGES = "Drift check completed; the remaining differences are this session's own changes."
const EXCEPTIONS = 'Drift check completed; the remaining differences are covered by the drift exception rules.'
const IN_SYNC = 'No drift found; the targeted infrastructure is synchronized.'

/** Longest list of drift that a status message is made from. */
const MAX_MESSAGE_CHARS = 10_000

/**
 * Reads drift and makes the code match the infrastructure, until they agree or the iterations are used
 * up. Errors: those of the generation loop and of the readings; a plan that fails is a result.
 */
export async function remediateDrift(kit: Kit, task: DriftTask): Promise<DriftResult> {
  const { run, status } = kit
  const ledger = createExceptionLedger()
  const state: DriftResult = {
    in_sync: false,
    remaining: [],
    excepted: [],
    detected: [],
    feedback: null,
    valid: task.valid,
    exclusions: ledger.notes,
  }
  if (task.max_iterations <= 0) return state
  let read_from: ValidPlan | null = null
  for (let iteration = 1; iteration <= task.max_iterations; iteration++) {
    await status.show('validating', ASSESSING)
    const feedback = await read(kit, task, state)
    if (feedback !== null) return { ...state, ...(await sorted(kit, task, state, ledger)), feedback }
    const { valid } = state
    if (state.in_sync || !valid) break
    read_from = valid
    const { targets } = valid.reference
    await storeDrift(run.context, run.round, { operations: state.remaining, targets }, run.signal)
    const genuine = await genuineDrift(kit, task, state, { valid, ledger })
    if (genuine.ended) return await ended(kit, task, state, { text: genuine.ended, ledger })
    const unread = await remediateAll(kit, task, state, { operations: genuine.operations, targets })
    if (unread !== null) return { ...state, ...(await sorted(kit, task, state, ledger)), feedback: unread }
  }
  if (state.valid !== read_from && !state.in_sync) {
    const feedback = await read(kit, task, state)
    if (feedback !== null) return { ...state, ...(await sorted(kit, task, state, ledger)), feedback }
  }
  return await ended(kit, task, state, { text: IN_SYNC, ledger })
}

/** Reads drift into the state; answers what the engine said when it cannot be read. */
async function read(kit: Kit, task: DriftTask, state: DriftResult): Promise<string | null> {
  const reading = await readDrift(kit, state.valid, task.targets)
  if (!reading.ok) return reading.feedback
  const { valid, operations } = reading
  const { targets } = valid.reference
  if (!state.valid && !task.filter_session_changes && !hasMatchingTarget(valid.plan, targets))
    return `Nothing in the code or in the state has one of these addresses: ${targets.join(', ')}`
  const known = new Set(state.detected.map(({ address }) => address))
  Object.assign(state, {
    valid,
    remaining: operations,
    in_sync: operations.length === 0,
    detected: [...state.detected, ...operations.filter(({ address }) => !known.has(address))],
  })
  return null
}

/** Says how the phase ends: with `text` unless drift is left that nothing explains. */
async function ended(
  kit: Kit,
  task: DriftTask,
  state: DriftResult,
  { text, ledger }: { text: string; ledger: ExceptionLedger },
): Promise<DriftResult> {
  const { status } = kit
  const { remaining, excepted } = await sorted(kit, task, state, ledger)
  const explained = text !== IN_SYNC && task.filter_session_changes
  if (explained || remaining.length === 0) {
    await status.show('validating', explained || excepted.length === 0 ? text : EXCEPTIONS)
    return { ...state, in_sync: true, remaining: [], excepted }
  }
  const left = cutMiddle(JSON.stringify(remaining), MAX_MESSAGE_CHARS)
  await status.say('validating', `Drift resolution completed but issues remain: ${left}`)
  return { ...state, in_sync: false, remaining, excepted }
}

/** Parts what is left into drift and expected drift. Where the passes left doubt, a drift session asks once more. */
async function sorted(
  kit: Kit,
  task: DriftTask,
  { remaining }: DriftResult,
  ledger: ExceptionLedger,
): Promise<Pick<DriftResult, 'remaining' | 'excepted'>> {
  const { covered, undecided } = ledger.sort(remaining)
  const asks = !task.filter_session_changes && ledger.notes.length > 0
  const asked = asks ? await coveredByRules(kit, undecided) : { covered: [], note: null }
  if (asked.note !== null && !ledger.notes.includes(asked.note)) ledger.notes.push(asked.note)
  const excepted = new Set([...covered, ...asked.covered])
  return {
    remaining: remaining.filter((operation) => !excepted.has(operation)),
    excepted: remaining.filter((operation) => excepted.has(operation)),
  }
}

/** What is left to do, or the text that ends the phase because nothing is. */
async function genuineDrift(
  kit: Kit,
  task: DriftTask,
  state: DriftResult,
  { valid, ledger }: { valid: ValidPlan; ledger: ExceptionLedger },
): Promise<{ operations: string[]; ended?: string }> {
  const drift = task.filter_session_changes ? withoutNewResources(state.remaining, valid) : state.remaining
  if (drift.length === 0) return { operations: [], ended: OWN_CHANGES }
  const operations = await genuineOperations(kit, task, drift)
  if (operations.length === 0) return { operations, ended: OWN_CHANGES }
  const filtered = await runChain(kit, filterDriftExceptions, { operations })
  ledger.note(drift, operations, filtered)
  return filtered.operations.length === 0 ? { operations: [], ended: EXCEPTIONS } : { operations: filtered.operations }
}

/**
 * Drift in plain language, without what the session's own changes explain. After an import the session's code has to
 * follow the cloud: for imported addresses no filter is asked, or nothing would ever converge.
 */
async function genuineOperations(kit: Kit, task: DriftTask, drift: readonly DriftOperation[]): Promise<string[]> {
  const split = (part: readonly DriftOperation[]) => runChain(kit, taskSplitter, { drift: part })
  if (!task.filter_session_changes) return await split(drift)
  const imported = drift.filter(({ address }) => task.imported?.has(address))
  const others = drift.filter((operation) => !imported.includes(operation))
  const certain = imported.length > 0 ? await split(imported) : []
  const genuine =
    others.length > 0 ? await runChain(kit, filterReconciliation, { operations: await split(others) }) : []
  return [...certain, ...genuine]
}

/**
 * Code that was never applied, the session's own or older, is no drift: its inverse would delete the
 * code. No model is asked about what the plan tells.
 */
function withoutNewResources(operations: readonly DriftOperation[], { plan }: ValidPlan): DriftOperation[] {
  const fresh = newAddresses(plan)
  return operations.filter(({ action, address }) => action !== 'delete resource' || !fresh.has(address))
}

/** Works through the groups; answers what the engine said when it cannot show the plan of one. */
async function remediateAll(
  kit: Kit,
  task: DriftTask,
  state: DriftResult,
  { operations, targets }: { operations: readonly string[]; targets: string[] },
): Promise<string | null> {
  try {
    for (const group of groupsOf(operations, kit.run.context.config.orchestration.drift_group_operations))
      state.valid = await remediate(kit, task, group, targets)
    return null
  } catch (error) {
    return unreadablePlan(error)
  }
}

const remediate = (kit: Kit, task: DriftTask, group: readonly string[], targets: string[]): Promise<ValidPlan> =>
  generateAndValidate(kit, {
    query: group.join('\n'),
    prompt: writeOperationsQuery(group),
    operation: 'drift',
    conventions: task.conventions,
    forbid: false,
    max_attempts: kit.run.context.config.orchestration.max_validation_iteration,
    validate: planValidator(kit, async () => targets),
  })

function groupsOf(operations: readonly string[], size: number): string[][] {
  const step = Math.max(1, size)
  const groups: string[][] = []
  for (let start = 0; start < operations.length; start += step) groups.push(operations.slice(start, start + step))
  return groups
}
