import { PlatformError } from '../../src/base/errors.ts'
import { waitUnlessAborted } from '../../src/base/time.ts'
import { covers } from '../../src/plan/addresses.ts'
import type { Diagnostic } from '../../src/plan/diagnostics/diagnostic.ts'
import { fromEngine, parseDiagnostics } from '../../src/plan/diagnostics/parse.ts'
import { readValidation } from '../../src/plan/diagnostics/validation.ts'
import type { DriftOperation } from '../../src/plan/drift.ts'
import { type Plan, parsePlanInSlices } from '../../src/plan/plan.ts'
import type { SecretRegister } from '../../src/plan/sensitive.ts'
import type { StateVersion } from '../../src/plan/state/state.ts'
import { findFirstCommit } from '../../src/rounds/run-records.ts'
import { listAppliedPlans } from '../../src/saved-plans/saved-plan.ts'
import { diagnosticsIn, type EngineResult, type EngineRoot } from '../../src/services/iac/contract.ts'
import { describeState, LOCAL_STATE_FILE, writeOverride, writeStateKeys } from '../workspace/backend-override.ts'
import { copyCommit } from '../workspace/clone.ts'
import { removeRightInside } from '../workspace/files/private-files.ts'
import { readPriorState } from '../workspace/saved-plans/zip.ts'
import { describeFault } from './engine-fault.ts'
import {
  findKeptPlan,
  hashLockFile,
  isEmptyState,
  isStill,
  keepBasePlan,
  type MadePlan,
  readSessionState,
} from './kept-base-plan.ts'
import { type Run, stoppable } from './run.ts'
import { runJob } from './run-job.ts'

/** What the code before the session plans, or why that is not known, in one masked line. */
export type BaseReading = ({ ok: true } & MadePlan) | { ok: false; reason: string }

export type BasePlan = ReturnType<typeof createBasePlan>

/**
 * Plans the code as it was before the session, in a work tree of its own with the state of the session. For what the
 * session has applied it is the code that was applied last, so that nothing which an earlier round built looks like
 * drift; an apply with targets leaves the rest as it was. The plan is of the whole root, takes no lock of the state, and
 * runs beside the round, whose own jobs never wait for it. A failure is a result; only a lost lease and the end of the
 * run are thrown.
 */
export function createBasePlan(run: Run, secrets: Secrets) {
  let bases: Promise<Base[]> | null = null
  /** True once the round has ended. */
  let isOver = false
  const list = async () => {
    bases ??= listBases(run, secrets)
    return await bases
  }
  return {
    /**
     * Begins the plan, unless it has begun. Where there is no state yet nobody can have changed anything, and it waits
     * for a question. Never throws.
     */
    start: async (): Promise<void> => {
      const state = await readSessionState(run).catch(() => null)
      const [latest] = isEmptyState(state) ? [] : await list().catch(() => [])
      if (!isOver) latest?.plan.start()
    },
    /**
     * Divides operations of a plan of the session over `state` by the code to compare them with, and returns its plan
     * for each part. Errors: those of the database.
     */
    read: async (plan: Plan, state: StateVersion | null, operations: readonly DriftOperation[]) => {
      const previous = new Map(plan.resource_changes.map((one) => [one.address, one.previous_address ?? one.address]))
      const parts: { operations: DriftOperation[]; reading: BaseReading }[] = []
      let rest = [...operations]
      for (const base of await list()) {
        const own = rest.filter(({ address }) => base.describes(previous.get(address) ?? address))
        rest = rest.filter((operation) => !own.includes(operation))
        if (own.length > 0) parts.push({ operations: own, reading: await base.plan.read(plan, state) })
      }
      return parts
    },
    /**
     * Returns the errors of the engine in the code before the session: those of init and validation, which are
     * known first, or for the step `plan` those of the plan. None when that code could not be looked at. A kept plan
     * says nothing of the errors that the engine would find now.
     */
    findErrors: async (step: 'init' | 'validate' | 'plan' | 'show'): Promise<Diagnostic[]> => {
      const [latest] = await list()
      return (await latest?.plan.findErrors(step)) ?? []
    },
    /** Stops plans that are still being made, and waits until their engine jobs have ended. Never throws. */
    stop: async (): Promise<void> => {
      isOver = true
      for (const { plan } of (await bases?.catch(() => [])) ?? []) await plan.stop()
    },
  }
}

/** A state of the code that differences are compared with. */
interface Base {
  plan: ReturnType<typeof createPlanOf>
  /** Reports whether it is the one for an object that no earlier base of the list describes. */
  describes: (address: string) => boolean
}

/** Lists what the session has applied, the last first, and the code before the session for the rest. */
async function listBases(run: Run, secrets: Secrets): Promise<Base[]> {
  const applied = await listAppliedPlans(run.context.sql, run.round.session.id)
  const isWhole = applied.at(-1)?.targets.length === 0
  const commits = [
    ...applied.map(({ commit, targets, changes }) => ({
      find: async () => commit,
      describes: (address: string) =>
        targets.length === 0 ||
        targets.some((target) => covers(target, address)) ||
        changes.some((change) => change.address === address),
    })),
    ...(isWhole ? [] : [{ find: () => findBeginning(run), describes: () => true }]),
  ]
  return commits.map(({ find, describes }, index) => ({
    plan: createPlanOf(run, secrets, { find, isKept: index === 0 }),
    describes,
  }))
}

/** Returns the commit at which the session began; null when that is not known. */
const findBeginning = async ({ context, round, workspace }: Run): Promise<string | null> =>
  workspace.branch === workspace.defaultBranch
    ? await findFirstCommit(context.sql, round.session.id)
    : await workspace.baseCommit()

const PLAN_FILE = 'base.plan'

type Secrets = Pick<SecretRegister, 'text' | 'add'>
type CommitOptions = { find: () => Promise<string | null>; isKept: boolean }

/**
 * Plans one commit.
 * @param options.isKept true to keep the plan for later rounds, which use it while it would be made alike
 */
function createPlanOf(run: Run, secrets: Secrets, options: CommitOptions) {
  let current: ReturnType<typeof begin> | null = null
  const begin = ({ usesKept }: { usesKept: boolean }) => {
    const stop = new AbortController()
    const checked = Promise.withResolvers<Diagnostic[] | null>()
    const stopped = stoppable(run, stop.signal)
    const reading = readBase(stopped, secrets, {
      find: options.find,
      usesKept: usesKept && options.isKept,
      onChecked: checked.resolve,
    }).catch((error: unknown) => {
      if (!run.signal.aborted && !stop.signal.aborted)
        run.log.warn('the code from before the session could not be planned', { error })
      return { ok: false as const, found: [], reason: describeFault(error, secrets), error }
    })
    // Every end of the reading ends the check.
    void reading.then(({ found }) => checked.resolve(found))
    const ended = reading.then((made) => (made.ok && options.isKept ? keepBasePlan(stopped, made) : undefined))
    return { stop, reading, found: checked.promise, ended }
  }
  const start = () => {
    current ??= begin({ usesKept: true })
    return current
  }
  const startAnew = () => {
    current = begin({ usesKept: false })
    return current
  }
  const wait = async <T>(promise: Promise<T>): Promise<T> => {
    const value = await waitUnlessAborted(promise, run.signal)
    run.signal.throwIfAborted()
    return value
  }
  return {
    start: (): void => void start(),
    /**
     * It is made again when it was made over another state, as before an apply of others, and a kept one also when it
     * would not be made alike.
     */
    read: async (plan: Plan, state: StateVersion | null): Promise<BaseReading> => {
      const first = await wait(start().reading)
      if (!first.ok || (await isStill(run, first, { plan, state }))) return first
      return await wait(startAnew().reading)
    },
    findErrors: async (step: 'init' | 'validate' | 'plan' | 'show'): Promise<Diagnostic[]> => {
      if ((await wait(start().found)) === null) startAnew()
      const { reading, found } = start()
      const isEarly = step === 'init' || step === 'validate'
      return (isEarly ? await wait(found) : (await wait(reading)).found) ?? []
    },
    stop: async (): Promise<void> => {
      if (current === null) return
      current.stop.abort(new Error('the round has ended'))
      await current.ended
    },
  }
}

/** Thrown when the engine rejects the code before the session. */
class BaseRefused extends PlatformError {
  readonly found: Diagnostic[]
  constructor(found: Diagnostic[], text: string) {
    super('BaseRefused', 502, text)
    this.found = found
  }
}

type Reading = (({ ok: true; text: string | null } & MadePlan) | { ok: false; reason: string }) & {
  found: Diagnostic[]
}

interface ReadOptions extends Pick<CommitOptions, 'find'> {
  /** True if a plan that an earlier round kept may do. */
  usesKept: boolean
  /** Is called with the errors of init and validation as soon as they are known; with null for a kept plan. */
  onChecked: (found: Diagnostic[] | null) => void
}

async function readBase(
  run: Run,
  secrets: Pick<SecretRegister, 'add' | 'text'>,
  { find, usesKept, onChecked }: ReadOptions,
): Promise<Reading> {
  const { context, round, workspace, signal, log } = run
  if (!(await context.iac.offers?.('lock', signal)))
    return unknown('the iac service does not offer plans without the lock of the state.')
  const commit = await find()
  if (commit === null) return unknown('the session works on the default branch, where its beginning is not marked.')
  const kept = usesKept ? await findKeptPlan(run, commit) : null
  if (kept !== null) {
    onChecked(null)
    return { ok: true, ...kept, text: null, found: [] }
  }
  await workspace.provide(commit)
  const isManaged = context.stateStore !== undefined
  const copy = await copyCommit(context.config, workspace, commit, signal, { backend: isManaged ? 'session' : 'own' })
  try {
    await writeOverride(context.config, round.session, copy.iacRoot, log)
    if (isManaged) await removeRightInside(copy.iacRoot, LOCAL_STATE_FILE)
    const root: EngineRoot = {
      workspace_path: copy.iacRoot,
      ...(await describeState(context.config, round.session)),
    }
    const { scope_id, provider: engine_provider } = round.session
    const scoped = { ...root, scope_id, engine_provider }
    const renewKeys = async () => {
      const keys = await writeStateKeys(context, round.session, copy.iacRoot)
      if (keys !== null) secrets.add([keys.secret_key, keys.session_token])
    }
    await renewKeys()
    assertAccepted(await runJob(run, 'init', scoped), copy.iacRoot)
    const validated = readValidation(await runJob(run, 'validate', { ...root, json: true }))
    if (validated.result.exit_code !== 0) {
      const found = validated.diagnostics ?? (await context.iac.diagnostics(root, signal)) ?? []
      assertAccepted(validated.result, copy.iacRoot, fromEngine(found))
    }
    onChecked([])
    await renewKeys()
    const body = { ...scoped, plan_file: PLAN_FILE, lock: false, json: true } as const
    const planned = await runJob(run, 'plan', body)
    assertAccepted(planned, copy.iacRoot, fromEngine(diagnosticsIn(planned.stdout)))
    const shown = await runJob(run, 'show', { ...root, plan_file: PLAN_FILE })
    assertAccepted(shown, copy.iacRoot)
    return {
      ok: true,
      commit,
      text: shown.stdout,
      plan: await parsePlanInSlices(shown.stdout),
      state: await readPriorState(`${copy.iacRoot}/${PLAN_FILE}`),
      lock_sha256: await hashLockFile(copy.iacRoot),
      isKept: false,
      found: [],
    }
  } catch (error) {
    if (error instanceof BaseRefused) return { ...unknown(describeFault(error, secrets)), found: error.found }
    throw error
  } finally {
    await copy.remove().catch((error: unknown) => log.warn('a copy of the code was not removed', { error }))
  }
}

const unknown = (reason: string) => ({ ok: false as const, reason, found: [] as Diagnostic[] })

/** Throws `BaseRefused` for a failed job, with its errors, whose files are relative to the root. */
function assertAccepted({ exit_code, stderr }: EngineResult, root: string, machine: readonly Diagnostic[] = []): void {
  if (exit_code === 0) return
  const isError = ({ severity }: Diagnostic) => severity === 'error'
  const known = machine.some(isError) ? machine : parseDiagnostics(stderr)
  const found = known
    .filter(isError)
    .map((one) => ({ ...one, file: one.file?.startsWith(`${root}/`) ? one.file.slice(root.length + 1) : one.file }))
  const text = stderr.trim() || known.map(({ summary, detail }) => `Error: ${summary} ${detail}`).join(' ')
  throw new BaseRefused(found, text.replaceAll(root, '.') || 'the engine failed')
}
