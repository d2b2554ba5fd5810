import {
  type Exceptions,
  filterDriftExceptions,
  filterReconciliation,
  taskSplitter,
} from '../../../src/chains/drift-chains.ts'
import type { Filtered } from '../../../src/chains/shared/operations.ts'
import { namesAddress, namesResource } from '../../../src/plan/addresses.ts'
import { type Attribution, attributeDrift, describeDoubts, OWNERS } from '../../../src/plan/attribution.ts'
import type { FileDiff } from '../../../src/plan/code/compare.ts'
import { type DriftOperation, keepPaths, vanishedPart } from '../../../src/plan/drift.ts'
import type { Plan } from '../../../src/plan/plan.ts'
import type { Kit } from '../../kit/kit.ts'
import { withFallback } from '../../kit/run.ts'
import { runChain } from '../../kit/run-chain.ts'
import { readPriorState } from '../../workspace/saved-plans/zip.ts'
import type { ValidPlan } from '../plan/plan.ts'
import type { Conventions } from '../shared/compose-prompts.ts'

export interface DriftTask {
  /** A plan whose drift is read first; null when the targets have to be planned. */
  valid: ValidPlan | null
  targets: string[]
  /** True if the session's own changes are no drift; if false, unknown targets are a failure. */
  filterSessionChanges: boolean
  imported?: ReadonlySet<string>
  /** The masked request of a partial drift round, which names what is to be taken over; absent to take over all. */
  request?: string
  /** May still be composed while drift is read, since only the generator needs them. */
  conventions: Conventions | Promise<Conventions>
  /** Maximum number of readings and remediations; 0 does nothing. */
  maxIterations: number
}

export interface DriftResult {
  /** True if code and infrastructure agree, apart from expected differences. */
  inSync: boolean
  /** Remaining drift of the last reading, without excepted drift and, if filtered, the session's own changes. */
  remaining: DriftOperation[]
  /** Remaining excepted drift of the last reading. */
  excepted: DriftOperation[]
  /** Addresses of remaining drift that the request does not ask for. */
  unasked: ReadonlySet<string>
  /** Every address that differed at any time, as first read. */
  detected: DriftOperation[]
  /** Changes of others that the generator wrote into the code: the last reading no longer shows them. */
  written: DriftOperation[]
  /** Engine output when drift could not be read; null otherwise. */
  feedback: string | null
  /** The last plan; null when no plan was made. */
  valid: ValidPlan | null
  /** Notes of the filter on excepted drift. */
  exclusions: string[]
}

type SessionChanges = ReturnType<typeof createSessionChanges>

/**
 * Separates what others changed from the changes of the session, and reads the latter, both before any code is written
 * because of drift.
 */
export function createSessionChanges(kit: Kit, task: DriftTask) {
  const { run, secrets } = kit
  let reading: Promise<FileDiff[]> | null = null
  return {
    /** Returns the diff of the session's branch as it was at the first call; empty when nothing was changed. */
    diff: () => {
      reading ??= withFallback(run, 'the diff of the session could not be read', [], () => run.workspace.branchDiff())
      return reading
    },
    /**
     * Returns what others changed; all of it for a task that does not leave out the session's own changes, and at
     * imports, whose code is all the session's. What cannot be told becomes a remark of the round.
     */
    ofOthers: async ({ plan }: ValidPlan, operations: readonly DriftOperation[]) => {
      if (!task.filterSessionChanges) return { others: [...operations], isKnown: true }
      const isImported = ({ address, action }: DriftOperation) =>
        action !== 'delete resource' && task.imported?.has(address) === true
      const imported = operations.filter(isImported)
      const rest = operations.filter((operation) => !imported.includes(operation))
      const { found, reason } = await attributeChanges(kit, plan, rest)
      for (const note of describeDoubts(found, reason).map(secrets.text))
        if (!run.result.notes.includes(note)) run.result.notes.push(note)
      return { others: [...imported, ...found.others], isKnown: found.unknown.length === 0 }
    },
  }
}

/** Attributes operations of the latest plan; `reason` says why the code before the session has no plan. */
export async function attributeChanges(kit: Kit, plan: Plan, operations: readonly DriftOperation[]) {
  const { workspace, context } = kit.run
  // What only the session's plan creates is known without the other plan.
  const needsBase = operations.some(({ action }) => action !== 'delete resource')
  if (!needsBase) return { found: attributeDrift(plan, operations, null), reason: '' }
  const planFile = `${workspace.iacRoot}/${context.config.paths.session_plan_filename}`
  const parts = await kit.base.read(plan, await readPriorState(planFile), operations)
  const found: Attribution = { others: [], both: [], own: [], unknown: [] }
  for (const part of parts) {
    const divided = attributeDrift(plan, part.operations, part.reading.ok ? part.reading.plan : null)
    for (const owner of OWNERS) found[owner].push(...divided[owner])
  }
  const failed = parts.find(({ reading }) => !reading.ok)?.reading
  return { found, reason: failed?.ok === false ? failed.reason : '' }
}

type ExceptionLedger = ReturnType<typeof createExceptionLedger>

/** Records which drift is excepted, by the addresses in the prose that the exception filter was sent. */
export function createExceptionLedger() {
  const notes: string[] = []
  const decided = new Map<string, 'covered' | 'open'>()
  return {
    /** Notes of the filter on omissions and their reasons, without duplicates. */
    notes,
    /** Records one pass of the filter: what it was sent, and what it kept. */
    recordPass: ({ operations, drift }: Filtered, { kept, note }: Exceptions) => {
      if (note !== null && !notes.includes(note)) notes.push(note)
      for (const operation of drift) {
        const key = JSON.stringify(operation)
        decided.delete(key)
        const left = kept.filter((_, index) => namesAddress(operations[index] ?? '', operation.address))
        if (left.length === 0 || left.some((one) => one !== 'all' && one.length > 0)) continue
        decided.set(key, left.includes('all') ? 'open' : 'covered')
      }
    },
    /** Sorts drift by the passes; `undecided` when unseen, kept in part, or without its address. */
    sortDrift: (drift: readonly DriftOperation[]) => {
      const sorted: Record<'covered' | 'open' | 'undecided', DriftOperation[]> = {
        covered: [],
        open: [],
        undecided: [],
      }
      for (const operation of drift) sorted[decided.get(JSON.stringify(operation)) ?? 'undecided'].push(operation)
      return sorted
    },
  }
}

/**
 * Lets a model filter drift as JSON, one entry per address. `covered` holds whole operations, and updates cut to the
 * attributes that a rule covers.
 * @throws those of `runAgent`
 */
export async function findCoveredDrift(kit: Kit, drift: readonly DriftOperation[]) {
  const covered: DriftOperation[] = []
  if (drift.length === 0) return { covered, note: null }
  const operations = drift.map((operation) => JSON.stringify(operation))
  const { kept, note } = await runChain(kit, filterDriftExceptions, { operations, drift })
  for (const [index, operation] of drift.entries()) {
    const paths = kept[index] ?? 'all'
    if (paths === 'all') continue
    const part =
      operation.action === 'update resource' ? keepPaths(operation, (path) => !paths.includes(path)) : operation
    if (part !== null) covered.push(part)
  }
  return { covered, note }
}

/** Returns drift without what is covered; an update that is covered in part keeps its other attributes. */
export const withoutCovered = (drift: readonly DriftOperation[], covered: readonly DriftOperation[]) =>
  drift.flatMap((operation) => {
    const part = covered.find(({ address }) => address === operation.address)
    return vanishedPart(operation, part) ?? []
  })

/** Status texts that end the phase. */
export const OWN_CHANGES = "Drift check completed; the remaining differences are this session's own changes."
export const UNKNOWN_OWNER = 'Drift check completed; whose the remaining differences are is not known.'
export const UNASKED = 'Drift check completed; the request does not ask for the remaining differences.'
export const EXCEPTIONS = 'Drift check completed; the remaining differences are covered by the drift exception rules.'

/**
 * Lets models select the drift to remediate, without excepted drift. Returns operations in plain language; if there are
 * none, `conclusion` is the status text with the reason. No model is asked when nothing is left.
 * @param selection.ledger remembers what the exception filter decided
 * @throws those of `runAgent`
 */
export async function selectGenuineDrift(
  kit: Kit,
  task: DriftTask,
  drift: readonly DriftOperation[],
  selection: { session: SessionChanges; ledger: ExceptionLedger },
): Promise<{ operations: string[]; unasked: ReadonlySet<string>; conclusion?: string }> {
  const { session, ledger } = selection
  const operations = await describeGenuineDrift(kit, task, { drift, session })
  const isAsked = ({ address }: DriftOperation) => operations.some((operation) => namesResource(operation, address))
  const left = task.request === undefined ? [] : drift.filter((operation) => !isAsked(operation))
  const unasked = new Set(left.map(({ address }) => address))
  if (operations.length === 0)
    return { operations, unasked, conclusion: task.request === undefined ? OWN_CHANGES : UNASKED }
  const filtered = await runChain(kit, filterDriftExceptions, { operations, drift })
  ledger.recordPass({ operations, drift }, filtered)
  return filtered.operations.length === 0
    ? { operations: [], unasked, conclusion: EXCEPTIONS }
    : { operations: filtered.operations, unasked }
}

/** Lets models describe drift, and again leave out what would undo the session's changes, except at imports. */
async function describeGenuineDrift(
  kit: Kit,
  task: DriftTask,
  { drift, session }: { drift: readonly DriftOperation[]; session: SessionChanges },
): Promise<string[]> {
  const split = (part: readonly DriftOperation[]) =>
    runChain(kit, taskSplitter, { drift: part, request: task.request ?? null })
  if (!task.filterSessionChanges) return await split(drift)
  const importedDrift = drift.filter(({ address }) => task.imported?.has(address))
  const others = drift.filter((operation) => !importedDrift.includes(operation))
  const operations = importedDrift.length > 0 ? await split(importedDrift) : []
  if (others.length === 0) return operations
  const values = { operations: await split(others), drift: others, diff: await session.diff() }
  return [...operations, ...(await runChain(kit, filterReconciliation, values))]
}
