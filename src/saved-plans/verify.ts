import { conflict } from '../base/errors.ts'
import type { Context } from '../context.ts'
import { readManagedState } from '../plan/state/managed-state.ts'
import { isStateLocked } from '../plan/state/state-lock.ts'
import { readBranchHead } from '../repository/head.ts'
import type { SessionFacts } from '../sessions/types.ts'
import { describeMovedState, describeOtherEngine } from './compare.ts'
import { describeNewerCommit, readSeal, type SealCheck, type SealRecord, type ShownSeal } from './plan-status.ts'

/** Longest time for one question to the outside. They are asked side by side. */
const LIMIT_MS = 8_000

type Needs = Pick<
  Context,
  'sql' | 'config' | 'log' | 'fetch' | 'resolver' | 'pinnedFetch' | 'iac' | 'stateStore' | 'now'
>

/** What a comparison with the present state found. */
export interface SealVerification {
  seal: ShownSeal
  checks: SealCheck[]
  verified_at: string
}

/**
 * Compares the sealed plan of a session with what it would be applied to: the session branch, the engine, the managed
 * state, the locks. Nothing is planned, applied or locked, and a running round is not touched. What cannot be seen is
 * `unknown`, and no error. The result stays with the seal, for the detail of the session.
 * Errors: 409 when nothing is sealed, or when the plan was taken away in the meantime.
 */
export async function verifySeal(context: Needs, session: SessionFacts): Promise<SealVerification> {
  const record = await readSeal(context.sql, session.uuid)
  if (!record?.pinned) throw notSealed(session.uuid, record?.shown ?? null)
  const checks = await Promise.all([
    checkCommit(context, session, record),
    checkEngine(context, record),
    checkState(context, record),
    checkReviewed(record),
    checkLock(context, session, record),
    checkCopy(record),
  ])
  const [kept] = await context.sql<{ verified_at: string }[]>`
    UPDATE sealed_plans p SET verified_at = clock_timestamp(), checks = ${JSON.stringify(checks)}::jsonb
    FROM pins WHERE pins.round_id = p.round_id AND p.round_id = ${record.round_id} AND p.ended_at IS NULL
      AND p.plan_sha256 = ${record.shown.plan_sha256}
    RETURNING p.verified_at`
  const now = await readSeal(context.sql, session.uuid)
  if (!kept || now?.round_id !== record.round_id) throw notSealed(session.uuid, now?.shown ?? null)
  return { seal: now.shown, checks, verified_at: kept.verified_at }
}

function notSealed(uuid: string, seal: ShownSeal | null) {
  const why = seal?.explanation ? ` ${seal.explanation}` : ''
  return conflict(`Session ${uuid} has no sealed plan.${why}`)
}

type Finding = Omit<SealCheck, 'name'>

const holds = (explanation: string): Finding => ({ outcome: 'holds', explanation })
const broken = (explanation: string): Finding => ({ outcome: 'broken', explanation })
const unknown = (explanation: string): Finding => ({ outcome: 'unknown', explanation })

/**
 * Asks the outside in limited time. A failure is `unknown` in these words; its own text goes to the log only, because it
 * may name what the caller must not see.
 */
async function ask(
  { log }: Needs,
  name: SealCheck['name'],
  failed: string,
  question: (signal: AbortSignal) => Promise<Finding>,
): Promise<SealCheck> {
  const limit = new AbortController()
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      const error = new Error(`no answer within ${LIMIT_MS} ms`)
      limit.abort(error)
      reject(error)
    }, LIMIT_MS)
  })
  try {
    return { name, ...(await Promise.race([question(limit.signal), late])) }
  } catch (error) {
    log.warn('a sealed plan could not be compared', { check: name, error })
    return { name, ...unknown(failed) }
  } finally {
    clearTimeout(timer)
  }
}

async function checkCommit(context: Needs, { workspace }: SessionFacts, { shown }: SealRecord): Promise<SealCheck> {
  return await ask(context, 'commit', 'The repository could not be read.', async (signal) => {
    const head = await readBranchHead(context, workspace.uri, workspace.branch, { timeoutMs: LIMIT_MS, signal })
    if (head === null) return unknown('The repository does not have the session branch.')
    if (head !== shown.commit) return broken(describeNewerCommit(shown.commit, head))
    return holds(`The session branch is at commit ${shown.commit.slice(0, 12)}, from which the plan was made.`)
  })
}

async function checkEngine(context: Needs, { shown: { engine } }: SealRecord): Promise<SealCheck> {
  if (engine === null)
    return { name: 'engine', ...unknown('The iac service did not tell its engine when the plan was made.') }
  return await ask(context, 'engine', 'The iac service could not be asked for its engine.', async (signal) => {
    const other = describeOtherEngine(engine, await context.iac.engine(signal))
    return other === null
      ? holds(`The iac service runs ${engine.name} ${engine.version}, which made the plan.`)
      : broken(toSentence(other))
  })
}

async function checkState(context: Needs, { project_id, shown: { state } }: SealRecord): Promise<SealCheck> {
  if (!context.stateStore)
    return {
      name: 'state',
      ...unknown('The state is kept by a backend of the repository, which the platform does not read.'),
    }
  if (state === null)
    return { name: 'state', ...unknown('It is not known from which version of the state the plan was made.') }
  return await ask(context, 'state', 'The state could not be read.', async (signal) => {
    const now = await readManagedState(context, project_id, signal)
    if (now === null) return unknown('The state could not be read.')
    const moved = describeMovedState(state, now)
    return moved === null
      ? holds(`The state is at serial ${state.serial}, from which the plan was made.`)
      : broken(toSentence(moved))
  })
}

function checkReviewed({ reviewed, shown: { round } }: SealRecord): SealCheck {
  const finding = reviewed
    ? holds(`Round ${round}, which sealed the plan, has completed.`)
    : broken(`Round ${round}, which sealed the plan, has not completed.`)
  return { name: 'reviewed', ...finding }
}

/** The lock of the session refuses an apply; an apply waits for a moment for the lock of the state. */
async function checkLock(context: Needs, session: SessionFacts, { project_id }: SealRecord): Promise<SealCheck> {
  if (session.is_blocked) return { name: 'lock', ...broken('The session is locked, so that it takes no apply.') }
  return await ask(
    context,
    'lock',
    'The session is not locked; the lock of the state could not be seen.',
    async (at) => {
      const isLocked = await isStateLocked(context, project_id, at)
      if (isLocked === null) return holds('The session is not locked.')
      if (isLocked) return broken('Another run has locked the state at this moment.')
      return holds('Neither the session nor the state is locked.')
    },
  )
}

function checkCopy({ shown: { has_copy } }: SealRecord): SealCheck {
  const finding = has_copy
    ? holds('An encrypted copy of the plan is stored.')
    : unknown('The plan is on the disk of a worker alone, which cannot be looked at from here.')
  return { name: 'copy', ...finding }
}

const toSentence = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)
