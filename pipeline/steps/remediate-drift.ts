import { storeDrift } from '../../src/artifacts/store.ts'
import type { DriftOperation } from '../../src/plan/drift.ts'
import { neverCreated } from '../../src/plan/never-created.ts'
import { operationsQuery } from '../../src/prompts/queries.ts'
import type { Conventions } from './compose-prompts.ts'
import { dropExceptions, dropSessionChanges, splitDrift } from './drift-tasks.ts'
import { generateAndValidate } from './generate-and-validate.ts'
import type { Kit } from './kit.ts'
import type { ValidPlan } from './plan.ts'
import { readDrift } from './read-drift.ts'
import { planValidator } from './validators.ts'

export interface DriftTask {
  /** A plan to begin with; none: the targets are planned. */
  valid: ValidPlan | null
  targets: string[]
  /** Leave out what the session's own commits explain. */
  filter_session_changes: boolean
  conventions: Conventions
  max_iterations: number
}

export interface DriftResult {
  in_sync: boolean
  /** Drift that is left, as last read. */
  remaining: DriftOperation[]
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

/**
 * Reads drift and makes the code match the infrastructure, until they agree or the iterations are used
 * up. Errors: those of the generation loop and of the readings; a plan that fails is a result.
 */
export async function remediateDrift(kit: Kit, task: DriftTask): Promise<DriftResult> {
  const { run, status } = kit
  const state: DriftResult = { in_sync: false, remaining: [], feedback: null, valid: task.valid, exclusions: [] }
  if (task.max_iterations <= 0) return state
  let read_from: ValidPlan | null = null
  for (let iteration = 1; iteration <= task.max_iterations; iteration++) {
    await status.show('validating', ASSESSING)
    const reading = await readDrift(kit, state.valid, task.targets)
    if (!reading.ok) return { ...state, feedback: reading.feedback }
    read_from = state.valid = reading.valid
    state.remaining = reading.operations
    state.in_sync = reading.operations.length === 0
    if (state.in_sync) break
    const { targets } = reading.valid.reference
    await storeDrift(run.context, run.round, { operations: reading.operations, targets }, run.signal)
    const genuine = await genuineDrift(kit, task, state, reading.valid)
    if (genuine.ended) {
      await status.show('validating', genuine.ended)
      return { ...state, in_sync: true, remaining: [] }
    }
    for (const group of groupsOf(genuine.operations, run.context.config.orchestration.drift_group_operations))
      state.valid = await remediate(kit, task, group, targets)
  }
  if (state.valid !== read_from) {
    const reading = await readDrift(kit, state.valid, task.targets)
    if (!reading.ok) return { ...state, feedback: reading.feedback }
    Object.assign(state, { valid: reading.valid, remaining: reading.operations, in_sync: reading.operations.length === 0 })
  }
  if (state.in_sync) await status.show('validating', IN_SYNC)
  else await status.say('validating', `Drift resolution completed but issues remain: ${JSON.stringify(state.remaining)}`)
  return state
}

/** What is left to do, or the text that ends the phase because nothing is. */
async function genuineDrift(
  kit: Kit,
  task: DriftTask,
  state: DriftResult,
  valid: ValidPlan,
): Promise<{ operations: string[]; ended?: string }> {
  const drift = task.filter_session_changes ? withoutNewResources(state.remaining, valid) : state.remaining
  if (drift.length === 0) return { operations: [], ended: OWN_CHANGES }
  let operations = await splitDrift(kit, drift)
  if (task.filter_session_changes) {
    operations = await dropSessionChanges(kit, operations)
    if (operations.length === 0) return { operations, ended: OWN_CHANGES }
  }
  const filtered = await dropExceptions(kit, operations)
  if (filtered.note) state.exclusions.push(filtered.note)
  return filtered.operations.length === 0 ? { operations: [], ended: EXCEPTIONS } : { operations: filtered.operations }
}

/**
 * Code that was never applied, the session's own or older, is no drift: its inverse would delete the
 * code. No model is asked about what the plan tells.
 */
function withoutNewResources(operations: readonly DriftOperation[], { plan }: ValidPlan): DriftOperation[] {
  const fresh = neverCreated(plan)
  return operations.filter(({ action, address }) => action !== 'delete resource' || !fresh.has(address))
}

const remediate = (kit: Kit, task: DriftTask, group: readonly string[], targets: string[]): Promise<ValidPlan> =>
  generateAndValidate(kit, {
    query: group.join('\n'),
    prompt: operationsQuery(group),
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
