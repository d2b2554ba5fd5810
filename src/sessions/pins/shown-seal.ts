import type { Status } from '../../base/vocabulary.ts'
import type { Db } from '../../data/db/types.ts'
import type { StateVersion } from '../../plan/state/state.ts'
import type { EngineInfo } from '../../services/iac/contract.ts'

export const CHECK_NAMES = ['commit', 'engine', 'state', 'reviewed', 'lock', 'copy'] as const
export const CHECK_OUTCOMES = ['holds', 'broken', 'unknown'] as const
export const SEAL_REASONS = [
  'used',
  'discarded',
  'superseded',
  'session_failed',
  'not_reviewed',
  'newer_commit',
  'state_moved',
  'engine_changed',
] as const

/**
 * Why a plan is not pinned any more: an apply handed it to the engine (`used`), an apply found that the state or the
 * engine is another one, an apply ended before that for any other reason (`discarded`), or a later round sealed its own
 * plan, or made one that cannot be sealed (`superseded`).
 */
type SealEnd = 'used' | 'state_moved' | 'engine_changed' | 'discarded' | 'superseded'

/** One comparison of a sealed plan with the present. */
export interface SealCheck {
  name: (typeof CHECK_NAMES)[number]
  outcome: (typeof CHECK_OUTCOMES)[number]
  /** A sentence for people. */
  explanation: string
}

/** The plan that a session sealed last, and whether it still is what was reviewed. */
export interface ShownSeal {
  /** SHA-256 of the plan file, in lower-case hexadecimal digits. */
  plan_sha256: string
  /** Head of the session branch when the plan was sealed. */
  commit: string
  engine: EngineInfo | null
  state: StateVersion | null
  sealed_at: string
  /** Number of the round that sealed it. */
  round: number
  valid: boolean
  /** Why it is not valid; null when it is. */
  reason: (typeof SEAL_REASONS)[number] | null
  explanation: string | null
  /** Whether an encrypted copy of the plan's directory is stored. */
  has_copy: boolean
  targets: string[]
  /** When it was last compared with the present state; null when it never was. */
  verified_at: string | null
  /** What that comparison found; empty when there was none. */
  checks: SealCheck[]
}

/** A seal with what a verification needs and nobody is shown. */
export interface SealRecord {
  round_id: number
  project_id: string
  /** False when an apply would find no plan. */
  pinned: boolean
  reviewed: boolean
  shown: ShownSeal
}

interface Row {
  round_id: number
  round: number
  plan_sha256: string
  commit: string
  targets: string[]
  engine_name: string | null
  engine_version: string | null
  state_lineage: string | null
  state_serial: number | null
  project_id: string
  sealed_at: string
  end_reason: SealEnd | null
  ended_by: number | null
  verified_at: string | null
  checks: SealCheck[] | null
  pinned: boolean
  has_copy: boolean
  reviewed: boolean
  in_flight: boolean
  last_status: Status
  last_commit: string | null
}

/** Reads the plan that a session sealed last; null when it never sealed one. It asks nobody but the database. */
export async function readSeal(sql: Db, uuid: string): Promise<SealRecord | null> {
  const [row] = await sql<Row[]>`
    SELECT p.round_id, r.number AS round, p.plan_sha256, p.commit, p.targets, p.engine_name, p.engine_version,
           p.state_lineage, p.state_serial, p.project_id, p.sealed_at, p.end_reason, e.number AS ended_by,
           p.verified_at, p.checks, pin.round_id IS NOT NULL AS pinned, pin.archive_key IS NOT NULL AS has_copy,
           EXISTS (SELECT 1 FROM statuses t WHERE t.round_id = p.round_id AND t.status = 'completed') AS reviewed,
           s.in_flight, s.last_status, s.last_commit
    FROM sessions s
    JOIN sealed_plans p ON p.session_id = s.id
    JOIN rounds r ON r.id = p.round_id
    LEFT JOIN rounds e ON e.id = p.ended_by
    LEFT JOIN pins pin ON pin.session_id = s.id AND pin.round_id = p.round_id
    WHERE s.uuid = ${uuid} ORDER BY p.sealed_at DESC LIMIT 1`
  if (!row) return null
  const { round_id, project_id, pinned, reviewed } = row
  return { round_id, project_id, pinned, reviewed, shown: toShown(row) }
}

function toShown(row: Row): ShownSeal {
  const { engine_name, engine_version, state_lineage, state_serial } = row
  const fault = findFault(row)
  return {
    plan_sha256: row.plan_sha256,
    commit: row.commit,
    engine: engine_name === null || engine_version === null ? null : { name: engine_name, version: engine_version },
    state: state_lineage === null || state_serial === null ? null : { serial: state_serial, lineage: state_lineage },
    sealed_at: row.sealed_at,
    round: row.round,
    valid: fault === null,
    reason: fault?.reason ?? null,
    explanation: fault?.explanation ?? null,
    has_copy: row.has_copy,
    targets: row.targets,
    verified_at: row.verified_at,
    checks: row.checks ?? [],
  }
}

type Fault = { reason: NonNullable<ShownSeal['reason']>; explanation: string }

/** The first reason why the plan is no longer what was reviewed: what is final comes before what may change again. */
function findFault(row: Row): Fault | null {
  if (!row.pinned) return describeEnd(row)
  if (row.last_status === 'failed' && !row.in_flight)
    return {
      reason: 'session_failed',
      explanation: 'The last round failed, so that the session takes no further round, and no apply.',
    }
  if (!row.reviewed)
    return { reason: 'not_reviewed', explanation: `Round ${row.round}, which sealed the plan, has not completed.` }
  if (row.last_commit !== null && row.last_commit !== row.commit)
    return { reason: 'newer_commit', explanation: describeNewerCommit(row.commit, row.last_commit) }
  return findVerifiedFault(row.checks ?? [])
}

/** Says that the branch of the session is not at the commit of the plan. */
export const describeNewerCommit = (sealed: string, now: string): string =>
  `The session branch is at commit ${now.slice(0, 12)}, and the plan was made from ${sealed.slice(0, 12)}.`

const BROKEN = [
  ['state', 'state_moved'],
  ['engine', 'engine_changed'],
  ['commit', 'newer_commit'],
] as const

function findVerifiedFault(checks: readonly SealCheck[]): Fault | null {
  for (const [name, reason] of BROKEN) {
    const broken = checks.find((check) => check.name === name && check.outcome === 'broken')
    if (broken) return { reason, explanation: broken.explanation }
  }
  return null
}

function describeEnd({ end_reason, ended_by }: Row): Fault {
  // Unknown only for a pin that a worker of an earlier version removed.
  const round = ended_by === null ? 'a later round' : `round ${ended_by}`
  const sentences: Record<SealEnd, string> = {
    used: `Used by ${round}.`,
    discarded: `Taken away by ${round}, an apply that ended before it handed the plan to the engine.`,
    superseded: `Superseded by ${round}, which made a plan of its own.`,
    state_moved: `Refused by ${round}, because the state had moved after the plan was made.`,
    engine_changed: `Refused by ${round}, because the engine was not the one that made the plan.`,
  }
  const reason = end_reason ?? 'discarded'
  return { reason, explanation: end_reason === null ? 'The plan is not pinned any more.' : sentences[reason] }
}
