import type { ApplyResult } from '../../../src/rounds/applies.ts'
import { claimProject, parkRound } from '../../../src/rounds/transitions.ts'
import type { SavedPlan } from '../../../src/saved-plans/saved-plan.ts'
import type { BareKit } from '../../kit/kit.ts'
import type { BareRun } from '../../kit/run.ts'
import { removePlanDirectory } from '../../workspace/saved-plans/plan-directory.ts'

/** Maximum wait for another round that applies to the same project, unless engine jobs have a shorter limit. */
const LIMIT_S = 600

/**
 * Makes the round the only one that applies to its project. Parks it while another round does so, so that it occupies
 * no worker. Returns null when the project is held, `parked`, or a refusal after too long a wait. Errors: `LeaseLost`.
 * @param waitedSeconds time waited so far; null at the first try
 */
export async function holdProject(
  { run, status }: BareKit,
  projectId: string,
  waitedSeconds: number | null,
): Promise<Extract<ApplyResult, { kind: 'refused' }> | 'parked' | null> {
  const { context, round } = run
  const limitS = Math.min(LIMIT_S, context.config.services.iac.job_timeout)
  for (;;) {
    const holder = await claimProject(context.sql, round, projectId)
    if (holder === null) return null
    if (waitedSeconds !== null && waitedSeconds >= limitS) {
      const wait = `${limitS} s that this round waited`
      const reason = `session ${holder} applied to the same infrastructure for all of the ${wait}.`
      return { kind: 'refused', reason, advice: `Run a generate round when session ${holder} is done, and apply then.` }
    }
    await status.show('apply', `Waiting for session ${holder}, which applies to the same infrastructure.`)
    if (await parkRound(context, round, { project_id: projectId, limitS })) return 'parked'
  }
}

/** Deletes directory and stored copy of a saved plan. Failures are logged. `inUse`: an engine may still run. */
export async function discardSavedPlan(
  { context, round, log }: BareRun,
  plan: SavedPlan | null,
  options: { inUse: boolean },
): Promise<void> {
  const remove = removePlanDirectory(context.config.paths, round.session.uuid, options).catch((error: unknown) =>
    log.warn('the directory of a saved plan could not be removed', { error }),
  )
  const key = plan?.archive_key ?? null
  const forget =
    key === null
      ? null
      : context.storage
          .delete(key)
          .catch((error: unknown) => log.warn('the stored copy of a saved plan could not be deleted', { key, error }))
  await Promise.all([remove, forget])
}
