import { type ApplyResult, parkRound, takeProject } from '../../../src/sessions/applies.ts'
import type { BareKit } from '../kit.ts'

const LIMIT_S = 600

/**
 * Makes the round the only one that applies to its project. While another one does, the round is parked: it
 * keeps no place of the worker, and is taken up again when that one ends. Answers null when the project is
 * held, a refusal when the wait was too long.
 * @param waited_s since when it waits already; null at the first try
 * Errors: `LeaseLost`.
 */
export async function holdProject(
  { run, status }: BareKit,
  project_id: string,
  waited_s: number | null,
): Promise<Extract<ApplyResult, { kind: 'refused' }> | 'parked' | null> {
  const { context, round } = run
  const limit_s = Math.min(LIMIT_S, context.config.services.iac.job_timeout)
  for (;;) {
    const holder = await takeProject(context.sql, round, project_id)
    if (holder === null) return null
    if (waited_s !== null && waited_s >= limit_s) {
      const reason = `session ${holder} applied to the same infrastructure for all of the ${limit_s} s that this round waited.`
      return { kind: 'refused', reason, advice: `Run a generate round when session ${holder} is done, and apply then.` }
    }
    await status.show('apply', `Waiting for session ${holder}, which applies to the same infrastructure.`)
    if (await parkRound(context, round, { project_id, limit_s })) return 'parked'
  }
}
