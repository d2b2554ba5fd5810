import type { Sql } from '../../data/db/types.ts'
import type { StateVersion } from '../../plan/state/state.ts'
import type { ClaimedRound } from '../../rounds/round.ts'
import type { EngineInfo } from '../../services/iac/contract.ts'

/** The facts of a seal that are recorded; see `Seal`. */
interface RecordedSeal {
  plan_sha256: string
  commit: string
  targets: string[]
  engine: EngineInfo | null
  state: StateVersion | null
  project_id: string
}

/**
 * Parts of the statement that seals a plan, behind its `WITH session AS …`: they record the new plan, and that it takes
 * the place of an earlier one. A round that seals a second time replaces what it recorded.
 */
export const recordSealQuery = (sql: Sql, round: ClaimedRound, seal: RecordedSeal) => sql`
  superseded AS (
    UPDATE sealed_plans p SET ended_at = clock_timestamp(), ended_by = ${round.id}, end_reason = 'superseded'
    FROM session WHERE p.session_id = session.id AND p.ended_at IS NULL AND p.round_id <> ${round.id}
  ),
  recorded AS (
    INSERT INTO sealed_plans (round_id, session_id, plan_sha256, commit, targets, engine_name, engine_version,
                              state_lineage, state_serial, project_id)
    SELECT ${round.id}, id, ${seal.plan_sha256}, ${seal.commit}, ${seal.targets}::text[],
           ${seal.engine?.name ?? null}, ${seal.engine?.version ?? null},
           ${seal.state?.lineage ?? null}, ${seal.state?.serial ?? null}::bigint, ${seal.project_id}
    FROM session
    ON CONFLICT (round_id) DO UPDATE SET
      plan_sha256 = excluded.plan_sha256, commit = excluded.commit, targets = excluded.targets,
      engine_name = excluded.engine_name, engine_version = excluded.engine_version,
      state_lineage = excluded.state_lineage, state_serial = excluded.state_serial,
      project_id = excluded.project_id, sealed_at = clock_timestamp(),
      ended_at = NULL, ended_by = NULL, end_reason = NULL, verified_at = NULL, checks = NULL
  )`
