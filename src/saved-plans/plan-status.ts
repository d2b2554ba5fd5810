import type { Status } from '../base/vocabulary.ts'
import type { Db } from '../data/db/sql.ts'
import type { SavedPlan } from './saved-plan.ts'

export const CHECK_NAMES = ['commit', 'engine', 'state', 'reviewed', 'lock', 'copy'] as const
export const CHECK_OUTCOMES = ['holds', 'broken', 'unknown'] as const

/**
 * The reason for the end of a plan. `used`: an apply submitted it to the engine. `state_moved`, `engine_changed`: an
 * apply found the state or the engine changed. `discarded`: an apply ended earlier for any other reason. `superseded`:
 * a later round saved its own plan, or made one that cannot be saved.
 */
type PlanEnd = 'used' | 'discarded' | 'superseded' | 'state_moved' | 'engine_changed'

/** Reasons for a saved plan to be invalid: it ended, or it currently cannot be applied. */
export const INVALID_REASONS = [
  'used',
  'discarded',
  'superseded',
  'session_failed',
  'not_reviewed',
  'newer_commit',
  'state_moved',
  'engine_changed',
] as const

export interface PlanCheck {
  name: (typeof CHECK_NAMES)[number]
  outcome: (typeof CHECK_OUTCOMES)[number]
  /** A sentence for users. */
  explanation: string
}

/** The session's last saved plan, with the reason why it cannot be applied, if any. */
export interface SavedPlanStatus extends Pick<SavedPlan, 'plan_sha256' | 'commit' | 'engine' | 'state' | 'targets'> {
  saved_at: string
  round: number
  valid: boolean
  /** Reason for the plan to be invalid; null when it is valid. */
  reason: (typeof INVALID_REASONS)[number] | null
  explanation: string | null
  /** True if an encrypted copy of the plan's directory is stored. */
  has_copy: boolean
  /** Time of the last comparison with the present state; null for none. */
  verified_at: string | null
  /** Results of that comparison; empty for none. */
  checks: PlanCheck[]
}

/** The session's last saved plan, with the additional facts that a verification needs. */
export interface NewestPlan extends Pick<SavedPlan, 'round_id' | 'project_id'> {
  /** False if an apply would find no plan. */
  current: boolean
  reviewed: boolean
  status: SavedPlanStatus
}

type StoredStatus = Omit<SavedPlanStatus, 'valid' | 'reason' | 'explanation'>

interface Row extends Omit<NewestPlan, 'status'>, StoredStatus {
  end_reason: PlanEnd
  ended_by: number
  in_flight: boolean
  last_status: Status
  last_commit: string | null
}

/** Reads the session's last saved plan; null when there is none. */
export async function readNewestPlan(sql: Db, uuid: string): Promise<NewestPlan | null> {
  const [row] = await sql<Row[]>`
    SELECT p.round_id, r.number AS round, p.plan_sha256, p.commit, p.targets, p.engine, p.state, p.project_id,
           p.saved_at, p.end_reason, e.number AS ended_by, p.verified_at, p.checks, p.ended_at IS NULL AS current,
           p.archive_key IS NOT NULL AS has_copy,
           EXISTS (SELECT 1 FROM statuses t WHERE t.round_id = p.round_id AND t.status = 'completed') AS reviewed,
           s.in_flight, s.last_status, s.last_commit
    FROM sessions s
    JOIN saved_plans p ON p.session_id = s.id
    JOIN rounds r ON r.id = p.round_id
    LEFT JOIN rounds e ON e.id = p.ended_by
    WHERE s.uuid = ${uuid} ORDER BY p.round_id DESC LIMIT 1`
  if (!row) return null
  const {
    round_id,
    project_id,
    current,
    reviewed,
    end_reason,
    ended_by,
    in_flight,
    last_status,
    last_commit,
    ...stored
  } = row
  const fault = findFault(row)
  const { reason, explanation } = fault ?? { reason: null, explanation: null }
  return { round_id, project_id, current, reviewed, status: { ...stored, valid: fault === null, reason, explanation } }
}

type Fault = { reason: NonNullable<SavedPlanStatus['reason']>; explanation: string }

/** Finds the first reason why the plan cannot be applied; final reasons come before temporary ones. */
function findFault(row: Row): Fault | null {
  if (!row.current) return describeEnd(row)
  if (row.last_status === 'failed' && !row.in_flight)
    return {
      reason: 'session_failed',
      explanation: 'The last round failed, so that the session takes no further round, and no apply.',
    }
  if (!row.reviewed)
    return { reason: 'not_reviewed', explanation: `Round ${row.round}, which sealed the plan, has not completed.` }
  if (row.last_commit !== null && row.last_commit !== row.commit)
    return { reason: 'newer_commit', explanation: describeNewerCommit(row.commit, row.last_commit) }
  return findVerifiedFault(row.checks)
}

/** Returns the sentence that the session branch is not at the plan's commit. */
export const describeNewerCommit = (planned: string, now: string): string =>
  `The session branch is at commit ${now.slice(0, 12)}, and the plan was made from ${planned.slice(0, 12)}.`

const BROKEN = [
  ['state', 'state_moved'],
  ['engine', 'engine_changed'],
  ['commit', 'newer_commit'],
] as const

function findVerifiedFault(checks: readonly PlanCheck[]): Fault | null {
  for (const [name, reason] of BROKEN) {
    const broken = checks.find((check) => check.name === name && check.outcome === 'broken')
    if (broken) return { reason, explanation: broken.explanation }
  }
  return null
}

function describeEnd({ end_reason, ended_by }: Row): Fault {
  const round = `round ${ended_by}`
  const sentences: Record<PlanEnd, string> = {
    used: `Used by ${round}.`,
    discarded: `Taken away by ${round}, an apply that ended before it handed the plan to the engine.`,
    superseded: `Superseded by ${round}, which made a plan of its own.`,
    state_moved: `Refused by ${round}, because the state had moved after the plan was made.`,
    engine_changed: `Refused by ${round}, because the engine was not the one that made the plan.`,
  }
  return { reason: end_reason, explanation: sentences[end_reason] }
}
