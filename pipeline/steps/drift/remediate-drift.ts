import { cutMiddle } from '../../../src/base/text.ts'
import { writeOperationsQuery } from '../../../src/chains/iac-generator.ts'
import { namesResource } from '../../../src/plan/addresses.ts'
import { type DriftOperation, vanishedPart } from '../../../src/plan/drift.ts'
import { storeDrift } from '../../../src/reports/artifacts.ts'
import type { Kit } from '../../kit/kit.ts'
import { generateAndValidate } from '../generator/generate-and-validate.ts'
import type { ValidPlan } from '../plan/plan.ts'
import { createPlanValidator } from '../plan/validators.ts'
import {
  createExceptionLedger,
  createSessionChanges,
  type DriftResult,
  type DriftTask,
  EXCEPTIONS,
  type ExceptionLedger,
  findCoveredDrift,
  OWN_CHANGES,
  type SessionChanges,
  selectGenuineDrift,
} from './genuine-drift.ts'
import { describeUnmatched, describeUnreadablePlan, readDrift } from './read-drift.ts'

/** Status texts at the start and end of the phase. */
export const ASSESSING = 'Assessing drift on the targeted infrastructure.'
const IN_SYNC = 'No drift found; the targeted infrastructure is synchronized.'

/** Maximum characters of drift for the model that writes the status message. */
const MAX_MESSAGE_CHARS = 10_000

interface Progress extends DriftResult {
  /** Everything that the last reading showed, including the session's own changes. */
  lastRead: DriftOperation[]
  /** Drift that the generator was asked to write into the code, as read before. */
  handedOver: DriftOperation[]
}

/** Remediates drift until none is left or the iterations are used up. A failing plan becomes `feedback`. */
export async function remediateDrift(kit: Kit, task: DriftTask): Promise<DriftResult> {
  const ledger = createExceptionLedger()
  const { lastRead, handedOver, ...result } = await runIterations(kit, task, ledger)
  const earlier = new Map(handedOver.toReversed().map((operation) => [operation.address, operation]))
  const written = [...earlier.values()].flatMap(
    (operation) =>
      vanishedPart(
        operation,
        lastRead.find(({ address }) => address === operation.address),
      ) ?? [],
  )
  return { ...result, written }
}

async function runIterations(kit: Kit, task: DriftTask, ledger: ExceptionLedger): Promise<Progress> {
  const { run, status } = kit
  const session = createSessionChanges(kit, task)
  const state: Progress = {
    inSync: false,
    remaining: [],
    excepted: [],
    detected: [],
    written: [],
    feedback: null,
    valid: task.valid,
    exclusions: ledger.notes,
    lastRead: [],
    handedOver: [],
  }
  if (task.maxIterations <= 0) return state
  let lastPlanRead: ValidPlan | null = null
  for (let iteration = 1; iteration <= task.maxIterations; iteration++) {
    const reason = iteration === 1 ? null : 'drift'
    run.eventLog.activity({
      type: 'attempt.began',
      attempt: iteration,
      max_attempts: task.maxIterations,
      task: 'converge',
      reason,
    })
    await status.show('validating', ASSESSING)
    const feedback = await readIntoState(kit, task, { state, session })
    if (feedback !== null) return { ...state, ...(await separateExcepted(kit, task, state, ledger)), feedback }
    const { valid } = state
    if (state.inSync || !valid) break
    lastPlanRead = valid
    const { targets } = valid.reference
    // An empty list means that the differences are the session's own work.
    await storeDrift(run.context, run.round, { operations: state.remaining, targets }, run.signal)
    const genuine = await selectGenuineDrift(kit, task, state, { session, ledger })
    if (genuine.conclusion) return await concludeRemediation(kit, task, state, { text: genuine.conclusion, ledger })
    state.handedOver.push(...namedBy(genuine.operations, state.remaining))
    const failure = await remediateOperations(kit, task, state, { operations: genuine.operations, targets })
    if (failure !== null) return { ...state, ...(await separateExcepted(kit, task, state, ledger)), feedback: failure }
  }
  if (state.valid !== lastPlanRead && !state.inSync) {
    const feedback = await readIntoState(kit, task, { state, session })
    if (feedback !== null) return { ...state, ...(await separateExcepted(kit, task, state, ledger)), feedback }
  }
  const onlyOwn = !state.inSync && state.remaining.length === 0
  return await concludeRemediation(kit, task, state, { text: onlyOwn ? OWN_CHANGES : IN_SYNC, ledger })
}

/** Reads drift into the state. Returns null, or the engine output when drift cannot be read. */
async function readIntoState(
  kit: Kit,
  task: DriftTask,
  { state, session }: { state: Progress; session: SessionChanges },
): Promise<string | null> {
  const reading = await readDrift(kit, state.valid, task.targets)
  if (!reading.ok) return reading.feedback
  const { valid, operations } = reading
  const unmatched = state.valid || task.filterSessionChanges ? null : describeUnmatched(valid)
  if (unmatched !== null) return unmatched
  const remaining = await session.withoutOwn(valid, operations)
  const earlierAddresses = new Set(state.detected.map(({ address }) => address))
  Object.assign(state, {
    valid,
    lastRead: operations,
    remaining,
    inSync: operations.length === 0,
    detected: [...state.detected, ...remaining.filter(({ address }) => !earlierAddresses.has(address))],
  })
  return null
}

/** Returns the drift that the operations name; all of it when they name no address. */
function namedBy(operations: readonly string[], drift: readonly DriftOperation[]): DriftOperation[] {
  const named = drift.filter(({ address }) => operations.some((operation) => namesResource(operation, address)))
  return named.length > 0 ? named : [...drift]
}

/** Writes the status row that ends the phase: `text`, unless unexplained drift is left. */
async function concludeRemediation(
  kit: Kit,
  task: DriftTask,
  state: Progress,
  { text, ledger }: { text: string; ledger: ExceptionLedger },
): Promise<Progress> {
  const { status } = kit
  const { remaining, excepted } = await separateExcepted(kit, task, state, ledger)
  const explained = text !== IN_SYNC && task.filterSessionChanges
  if (explained || remaining.length === 0) {
    await status.show('validating', explained || excepted.length === 0 ? text : EXCEPTIONS)
    return { ...state, inSync: true, remaining: [], excepted }
  }
  const left = cutMiddle(JSON.stringify(remaining), MAX_MESSAGE_CHARS)
  await status.say('validating', `Drift resolution completed but issues remain: ${left}`)
  return { ...state, inSync: false, remaining, excepted }
}

/** Separates excepted drift. In a drift session, a model decides what the ledger does not know. */
async function separateExcepted(
  kit: Kit,
  task: DriftTask,
  { remaining }: DriftResult,
  ledger: ExceptionLedger,
): Promise<Pick<DriftResult, 'remaining' | 'excepted'>> {
  const { covered, undecided } = ledger.sortDrift(remaining)
  const asksAgain = !task.filterSessionChanges && ledger.notes.length > 0
  const second = asksAgain ? await findCoveredDrift(kit, undecided) : { covered: [], note: null }
  if (second.note !== null && !ledger.notes.includes(second.note)) ledger.notes.push(second.note)
  const excepted = new Set([...covered, ...second.covered])
  return {
    remaining: remaining.filter((operation) => !excepted.has(operation)),
    excepted: remaining.filter((operation) => excepted.has(operation)),
  }
}

/** Lets the generator carry out the operations. Returns null, or the engine output for an unreadable plan. */
async function remediateOperations(
  kit: Kit,
  task: DriftTask,
  state: DriftResult,
  { operations, targets }: { operations: readonly string[]; targets: string[] },
): Promise<string | null> {
  try {
    for (const group of splitIntoGroups(operations, kit.run.context.config.orchestration.drift_group_operations))
      state.valid = await remediateGroup(kit, task, group, targets)
    return null
  } catch (error) {
    return describeUnreadablePlan(error)
  }
}

const remediateGroup = (kit: Kit, task: DriftTask, group: readonly string[], targets: string[]): Promise<ValidPlan> =>
  generateAndValidate(kit, {
    query: group.join('\n'),
    prompt: writeOperationsQuery(group),
    operation: 'drift',
    conventions: task.conventions,
    forbid: false,
    maxAttempts: kit.run.context.config.orchestration.max_validation_iteration,
    validate: createPlanValidator(kit, async () => targets),
  })

function splitIntoGroups(operations: readonly string[], size: number): string[][] {
  const step = Math.max(1, size)
  const groups: string[][] = []
  for (let start = 0; start < operations.length; start += step) groups.push(operations.slice(start, start + step))
  return groups
}
