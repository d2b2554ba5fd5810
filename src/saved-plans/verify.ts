import { conflict } from '../base/errors.ts'
import { withTimeLimit } from '../base/time.ts'
import type { StateChoice } from '../base/vocabulary.ts'
import type { Context } from '../context.ts'
import { isStateLocked, readManagedState, withoutManagedState } from '../plan/state/managed-state.ts'
import { hasMoved, type StateVersion } from '../plan/state/state.ts'
import { readBranchHead } from '../repository/head.ts'
import type { EngineInfo } from '../services/iac/contract.ts'
import { CHECK_NAMES, describeNewerCommit, type NewestPlan, type PlanCheck, readNewestPlan } from './plan-status.ts'

/** Time limit of each outside request. They run concurrently. */
const LIMIT_MS = 8_000

type Needs = Pick<
  Context,
  'sql' | 'config' | 'log' | 'fetch' | 'resolver' | 'pinnedFetch' | 'iac' | 'stateStore' | 'now'
>

/** The part of a session that a verification reads. */
interface Session {
  uuid: string
  is_blocked: boolean
  workspace: { uri: string; branch: string }
  state_choice?: StateChoice | null
}

/**
 * Compares the current saved plan of a session with the session branch, the engine, the managed state and the locks.
 * Plans, applies and locks nothing, and does not affect a running round. Unreadable facts are `unknown`, not an error.
 * The result is stored with the plan, for the detail of the session. Throws 409 when there is no current plan, or when
 * it ended meanwhile.
 */
export async function verifySavedPlan(given: Needs, session: Session) {
  const context = session.state_choice === 'keep' ? withoutManagedState(given) : given
  const newest = await readNewestPlan(context.sql, session.uuid)
  if (!newest?.current) throw noSavedPlan(session.uuid, newest)
  const checks = await Promise.all(
    CHECK_NAMES.map(async (name) => ({ name, ...(await CHECKS[name](context, newest, session)) })),
  )
  const [stored] = await context.sql<{ verified_at: string }[]>`
    UPDATE saved_plans SET verified_at = clock_timestamp(), checks = ${JSON.stringify(checks)}::jsonb
    WHERE round_id = ${newest.round_id} AND ended_at IS NULL AND plan_sha256 = ${newest.status.plan_sha256}
    RETURNING verified_at`
  const now = await readNewestPlan(context.sql, session.uuid)
  if (!stored || now?.round_id !== newest.round_id) throw noSavedPlan(session.uuid, now)
  return { plan: now.status, checks, verified_at: stored.verified_at }
}

function noSavedPlan(uuid: string, newest: NewestPlan | null) {
  const why = newest?.status.explanation ? ` ${newest.status.explanation}` : ''
  return conflict(`Session ${uuid} has no sealed plan.${why}`)
}

type Finding = Omit<PlanCheck, 'name'>

const holds = (explanation: string): Finding => ({ outcome: 'holds', explanation })
const broken = (explanation: string): Finding => ({ outcome: 'broken', explanation })
const unknown = (explanation: string): Finding => ({ outcome: 'unknown', explanation })

/**
 * Calls an outside service within the time limit. A failure is `unknown` with the text of `failed`; its own text is
 * only logged, because it may name things that the caller must not see.
 */
async function ask(
  { log }: Needs,
  name: PlanCheck['name'],
  failed: string,
  question: (signal: AbortSignal) => Promise<Finding>,
): Promise<Finding> {
  const limit = new AbortController()
  const late = () => {
    const error = new Error(`no answer within ${LIMIT_MS} ms`)
    limit.abort(error)
    return error
  }
  try {
    return await withTimeLimit(LIMIT_MS, question(limit.signal), late)
  } catch (error) {
    log.warn('a saved plan could not be compared', { check: name, error })
    return unknown(failed)
  }
}

async function checkCommit(context: Needs, { status }: NewestPlan, { workspace }: Session): Promise<Finding> {
  return await ask(context, 'commit', 'The repository could not be read.', async (signal) => {
    const head = await readBranchHead(context, workspace.uri, workspace.branch, { timeoutMs: LIMIT_MS, signal })
    if (head === null) return unknown('The repository does not have the session branch.')
    if (head !== status.commit) return broken(describeNewerCommit(status.commit, head))
    return holds(`The session branch is at commit ${status.commit.slice(0, 12)}, from which the plan was made.`)
  })
}

async function checkEngine(context: Needs, { status: { engine } }: NewestPlan): Promise<Finding> {
  if (engine === null) return unknown('The iac service did not tell its engine when the plan was made.')
  return await ask(context, 'engine', 'The iac service could not be asked for its engine.', async (signal) => {
    const other = describeOtherEngine(engine, await context.iac.engine(signal))
    return other === null
      ? holds(`The iac service runs ${engine.name} ${engine.version}, which made the plan.`)
      : broken(toSentence(other))
  })
}

async function checkState(context: Needs, { project_id, status: { state } }: NewestPlan): Promise<Finding> {
  if (!context.stateStore)
    return unknown('The state is kept by a backend of the repository, which the platform does not read.')
  if (state === null) return unknown('It is not known from which version of the state the plan was made.')
  return await ask(context, 'state', 'The state could not be read.', async (signal) => {
    const now = await readManagedState(context, project_id, signal)
    if (now === null) return unknown('The state could not be read.')
    const moved = describeMovedState(state, now)
    return moved === null
      ? holds(`The state is at serial ${state.serial}, from which the plan was made.`)
      : broken(toSentence(moved))
  })
}

/** Checks the locks. That of the session refuses an apply; for that of the state, an apply waits a moment. */
async function checkLock(context: Needs, { project_id }: NewestPlan, session: Session): Promise<Finding> {
  if (session.is_blocked) return broken('The session is locked, so that it takes no apply.')
  const failed = 'The session is not locked; the lock of the state could not be seen.'
  return await ask(context, 'lock', failed, async (signal) => {
    const isLocked = await isStateLocked(context, project_id, signal)
    if (isLocked === null) return holds('The session is not locked.')
    if (isLocked) return broken('Another run has locked the state at this moment.')
    return holds('Neither the session nor the state is locked.')
  })
}

const CHECKS: Record<
  PlanCheck['name'],
  (context: Needs, plan: NewestPlan, session: Session) => Finding | Promise<Finding>
> = {
  commit: checkCommit,
  engine: checkEngine,
  state: checkState,
  reviewed: (_, { reviewed, status: { round } }) =>
    reviewed
      ? holds(`Round ${round}, which sealed the plan, has completed.`)
      : broken(`Round ${round}, which sealed the plan, has not completed.`),
  lock: checkLock,
  copy: (_, { status: { has_copy } }) =>
    has_copy
      ? holds('An encrypted copy of the plan is stored.')
      : unknown('The plan is on the disk of a worker alone, which cannot be looked at from here.'),
}

const toSentence = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

/**
 * Returns a sentence if the engine is not the one that made the plan, because another one may read it differently;
 * otherwise null.
 * @param now null when the iac service does not name its engine
 */
export function describeOtherEngine(planned: EngineInfo, now: EngineInfo | null): string | null {
  if (now?.name === planned.name && now.version === planned.version) return null
  const current = now === null ? 'an engine that does not tell its version' : `${now.name} ${now.version}`
  return `the plan was made by ${planned.name} ${planned.version}, and the iac service runs ${current} now.`
}

/** Returns a sentence if the state is not the one that the plan was made from; otherwise null. */
export function describeMovedState(planned: StateVersion, now: StateVersion): string | null {
  if (!hasMoved(planned, now)) return null
  return `the state moved after the plan was made (serial ${planned.serial} then, ${now.serial} now).`
}
