import { PlatformError } from '../../../src/base/errors.ts'
import { cutMiddle } from '../../../src/base/text.ts'
import { type EarlierWork, writeOperationsQuery } from '../../../src/chains/iac-generator.ts'
import { driftTargets } from '../../../src/chains/target-generator.ts'
import { namesResource } from '../../../src/plan/addresses.ts'
import { type DriftOperation, describeDifference, driftOperations, vanishedPart } from '../../../src/plan/drift.ts'
import { isWithoutResources } from '../../../src/plan/plan.ts'
import { hasMatchingTarget } from '../../../src/plan/targets.ts'
import { storeDrift } from '../../../src/reports/artifacts.ts'
import { NOTHING_TO_COMPARE } from '../../../src/reports/settle-drift.ts'
import { traceEngine } from '../../kit/engine-trace.ts'
import type { Kit } from '../../kit/kit.ts'
import { runChain } from '../../kit/run-chain.ts'
import { generateAndValidate } from '../generator/generate-and-validate.ts'
import { planTargets, type ValidPlan } from '../plan/plan.ts'
import { createPlanValidator } from '../plan/validators.ts'
import { judgeRequest } from '../shared/judge-request.ts'
import { readDeclarations } from '../shared/look-at-repository.ts'
import {
  createExceptionLedger,
  createSessionChanges,
  type DriftResult,
  type DriftTask,
  EXCEPTIONS,
  findCoveredDrift,
  OWN_CHANGES,
  selectGenuineDrift,
  UNASKED,
  UNKNOWN_OWNER,
  withoutCovered,
} from './genuine-drift.ts'

/** Status texts at the start and end of the phase. */
export const ASSESSING = 'Assessing drift on the targeted infrastructure.'
const IN_SYNC = 'No drift found; the targeted infrastructure is synchronized.'

/** Maximum characters of the drift that a status message lists. */
const MAX_MESSAGE_CHARS = 2_000

/**
 * Remediates drift until none is left or the iterations are used up. A failing plan becomes `feedback`.
 * @throws those of `generateAndValidate`, of `readDrift` and of the object store
 */
export async function remediateDrift(kit: Kit, task: DriftTask): Promise<DriftResult> {
  const { run, status } = kit
  const session = createSessionChanges(kit, task)
  const ledger = createExceptionLedger()
  const state = {
    inSync: false,
    remaining: [] as DriftOperation[],
    excepted: [] as DriftOperation[],
    detected: [] as DriftOperation[],
    feedback: null as string | null,
    valid: task.valid,
    unasked: new Set<string>() as ReadonlySet<string>,
    exclusions: ledger.notes,
  }
  /** Everything that the last reading showed, including the session's own changes. */
  let lastRead: DriftOperation[] = []
  /** The status text when others have changed nothing. */
  let withoutOthers = OWN_CHANGES
  /** What the generator was asked and changed in earlier iterations, and the first reading. */
  const earlierWork = { operations: [] as string[], files: new Set<string>(), first: null as DriftOperation[] | null }
  /** Drift that the generator was asked to write into the code, as read before. */
  const handedOver: DriftOperation[] = []

  /** Reads drift into the state. Returns false, with the engine output as feedback, when drift cannot be read. */
  const read = async (): Promise<boolean> => {
    const reading = await readDrift(kit, state.valid, task.targets)
    if (reading.ok && !state.valid && !task.filterSessionChanges) state.feedback = describeUnmatched(reading.valid)
    if (!reading.ok) state.feedback = reading.feedback
    if (!reading.ok || state.feedback !== null) return false
    const { others: remaining, isKnown } = await session.ofOthers(reading.valid, reading.operations)
    withoutOthers = isKnown ? OWN_CHANGES : UNKNOWN_OWNER
    const earlierAddresses = new Set(state.detected.map(({ address }) => address))
    state.detected.push(...remaining.filter(({ address }) => !earlierAddresses.has(address)))
    lastRead = reading.operations
    Object.assign(state, { valid: reading.valid, remaining, inSync: lastRead.length === 0 })
    return true
  }

  /** Separates excepted drift. In a drift session, a model decides what the ledger does not know. */
  const separateExcepted = async (): Promise<void> => {
    const { covered, undecided } = ledger.sortDrift(state.remaining)
    const asksAgain = !task.filterSessionChanges && ledger.notes.length > 0
    const second = asksAgain ? await findCoveredDrift(kit, undecided) : { covered: [], note: null }
    if (second.note !== null && !ledger.notes.includes(second.note)) ledger.notes.push(second.note)
    state.excepted = [...covered, ...second.covered]
    state.remaining = withoutCovered(state.remaining, state.excepted)
  }

  /** Writes the status row that ends the phase: `text`, unless unexplained drift is left. */
  const conclude = async (text: string): Promise<void> => {
    await separateExcepted()
    if (text === UNASKED) return await status.show('validating', text)
    const explained = text !== IN_SYNC && task.filterSessionChanges
    if (explained || state.remaining.length === 0) {
      const ending = explained || state.excepted.length === 0 ? text : EXCEPTIONS
      const isEmpty = state.detected.length === 0 && state.valid !== null && isWithoutResources(state.valid.plan)
      await status.show('validating', isEmpty ? NOTHING_TO_COMPARE : ending)
      Object.assign(state, { inSync: true, remaining: [] })
      return
    }
    const left = cutMiddle(state.remaining.map(describeDifference).join('\n'), MAX_MESSAGE_CHARS)
    await status.show('validating', `Drift resolution completed but issues remain: ${left}`)
    state.inSync = false
  }

  /** Describes earlier iterations; differences that the first reading did not have are theirs. */
  const describeEarlier = (): EarlierWork | null => {
    const { operations, files, first } = earlierWork
    if (operations.length === 0 || first === null) return null
    const before = (address: string) => first.find((operation) => operation.address === address)
    const caused = state.remaining.flatMap((operation) => vanishedPart(operation, before(operation.address)) ?? [])
    return { operations, files: [...files], caused: caused.map((operation) => JSON.stringify(operation)) }
  }

  /** Lets the generator carry out the operations. Returns false, with feedback, for an unreadable plan. */
  const carryOut = async (operations: readonly string[], targets: string[]): Promise<boolean> => {
    try {
      for (const group of splitIntoGroups(operations, run.context.config.orchestration.drift_group_operations))
        state.valid = await remediateGroup(kit, task, { group, targets, earlier: describeEarlier() })
    } catch (error) {
      state.feedback = describeUnreadablePlan(error)
    }
    return state.feedback === null
  }

  const iterate = async (): Promise<void> => {
    let lastPlanRead: ValidPlan | null = null
    for (let iteration = 1; iteration <= task.maxIterations; iteration++) {
      run.eventLog.activity({
        type: 'attempt.began',
        attempt: iteration,
        max_attempts: task.maxIterations,
        task: 'converge',
        reason: iteration === 1 ? null : 'drift',
      })
      await status.show('validating', ASSESSING)
      if (!(await read())) return await separateExcepted()
      const { valid, remaining } = state
      if (state.inSync || !valid) break
      lastPlanRead = valid
      const { targets } = valid.reference
      // An empty list means that the differences are the session's own work.
      await storeDrift(run.context, run.round, { operations: remaining, targets }, run.signal)
      if (remaining.length === 0) return await conclude(withoutOthers)
      const genuine = await selectGenuineDrift(kit, task, remaining, { session, ledger })
      state.unasked = genuine.unasked
      if (genuine.conclusion) return await conclude(genuine.conclusion)
      handedOver.push(...namedBy(genuine.operations, remaining))
      const head = await run.workspace.head()
      earlierWork.first ??= remaining
      if (!(await carryOut(genuine.operations, targets))) return await separateExcepted()
      earlierWork.operations.push(...genuine.operations)
      for (const path of await run.workspace.changedFiles(head)) earlierWork.files.add(path)
    }
    if (state.valid !== lastPlanRead && !state.inSync && !(await read())) return await separateExcepted()
    await conclude(!state.inSync && state.remaining.length === 0 ? withoutOthers : IN_SYNC)
  }

  if (task.maxIterations > 0) await iterate()
  const earlier = new Map(handedOver.toReversed().map((operation) => [operation.address, operation]))
  const now = (address: string) => lastRead.find((operation) => operation.address === address)
  const written = [...earlier.values()].flatMap((operation) => vanishedPart(operation, now(operation.address)) ?? [])
  return { ...state, written }
}

/** Returns the drift that the operations name; all of it when they name no address. */
function namedBy(operations: readonly string[], drift: readonly DriftOperation[]): DriftOperation[] {
  const named = drift.filter(({ address }) => operations.some((operation) => namesResource(operation, address)))
  return named.length > 0 ? named : [...drift]
}

const remediateGroup = async (
  kit: Kit,
  task: DriftTask,
  { group, targets, earlier }: { group: readonly string[]; targets: string[]; earlier: EarlierWork | null },
): Promise<ValidPlan> =>
  generateAndValidate(kit, {
    query: group.join('\n'),
    prompt: writeOperationsQuery(group, earlier),
    operation: 'drift',
    conventions: await task.conventions,
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

/** Drift that was read from a plan, or the engine output when no plan could be made. */
type DriftReading =
  | { ok: true; valid: ValidPlan; operations: DriftOperation[] }
  | { ok: false; text: string; feedback: string }

/**
 * Reads drift from a plan, made again if missing or outdated.
 * @throws `ForeignPlan` 500 for a plan of another workspace; those of `planTargets`, except for an unreadable plan file
 */
export const readDrift = (kit: Kit, valid: ValidPlan | null, targets: string[]): Promise<DriftReading> =>
  traceEngine(
    kit,
    ['drift', describeReference(valid, targets)],
    () => planAndReadDrift(kit, valid, targets),
    (reading) => [reading.ok, reading.ok ? JSON.stringify(reading.operations) : reading.feedback],
  )

/** Describes the plan for a trace, without its directory, which is a path of this machine. */
function describeReference(valid: ValidPlan | null, targets: string[]): string {
  const { plan_file = null, plan_sha256 = null, targets: planned = targets } = valid?.reference ?? {}
  return JSON.stringify({ plan_file, plan_sha256, targets: planned })
}

async function planAndReadDrift(kit: Kit, valid: ValidPlan | null, targets: string[]): Promise<DriftReading> {
  const { workspace } = kit.run
  if (valid && valid.reference.workspace !== workspace.iacRoot)
    throw new PlatformError('ForeignPlan', 500, 'The plan belongs to another workspace.')
  const current = valid && valid.reference.revision === (await workspace.revision()) ? valid : null
  const result = current ?? (await planForDrift(kit, valid?.reference.targets ?? targets))
  if (!result.ok) return result
  return { ok: true, valid: result, operations: driftOperations(result.plan, kit.secrets) }
}

/** Describes targets of which none is in code or state; null when one of them is. */
export function describeUnmatched({ plan, reference: { targets } }: ValidPlan): string | null {
  if (hasMatchingTarget(plan, targets)) return null
  return `Nothing in the code or in the state has one of these addresses: ${targets.join(', ')}`
}

async function planForDrift(kit: Kit, targets: string[]) {
  try {
    return await planTargets(kit, targets)
  } catch (error) {
    return { ok: false as const, text: '', feedback: describeUnreadablePlan(error) }
  }
}

/** Returns the engine output about an unreadable plan file, which counts as a failed plan; else throws. */
function describeUnreadablePlan(error: unknown): string {
  if (error instanceof PlatformError && error.code === 'EnginePlanUnreadable') return error.message
  throw error
}

/**
 * Lets two models interpret a partial round. Returns the targets, or why nothing is to be done.
 * @throws those of `runAgent`
 */
export async function findRequestedScope(kit: Kit): Promise<{ targets: string[] } | { declined: string }> {
  const request = kit.run.round.query
  const { accepted, explanation } = await judgeRequest(kit, 'drift', readDeclarations(kit))
  if (!accepted) return { declined: explanation }
  const answer = await runChain(kit, driftTargets, { request })
  return answer.fits ? { targets: answer.targets } : { declined: answer.explanation }
}
