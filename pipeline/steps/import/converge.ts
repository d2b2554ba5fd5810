import { PlatformError } from '../../../src/base/errors.ts'
import { statusUpdate } from '../../../src/chains/status-update.ts'
import { storePlanText } from '../../../src/reports/artifacts.ts'
import type { Kit } from '../../kit/kit.ts'
import { askForText } from '../../kit/run-chain.ts'
import { remediateDrift } from '../drift/remediate-drift.ts'
import type { Conventions } from '../shared/compose-prompts.ts'
import { planTargets, type ValidPlan } from '../shared/plan.ts'
import type { Ledger } from './ledger.ts'
import { withImported } from './validator.ts'

/**
 * Makes the code describe what was imported, until a plan changes nothing or the iterations are used up.
 * Answers the last plan; the given one when nothing was imported.
 * Errors: `ImportNotConverged` with the small model's words about what the engine said; those of `remediateDrift`.
 */
export async function converge(
  kit: Kit,
  ledger: Ledger,
  imported: ValidPlan,
  conventions: Conventions,
): Promise<ValidPlan> {
  const addresses = ledger.imported().map(({ address }) => address)
  if (addresses.length === 0) return imported
  const { run } = kit
  const targets = withImported(imported.reference.targets, ledger)
  const turns = run.conversation.length
  const result = await remediateDrift(kit, {
    // The state changed since the plan was made.
    valid: null,
    targets,
    filter_session_changes: true,
    imported: new Set(addresses),
    conventions,
    max_iterations: run.context.config.orchestration.max_drift_reports,
  })
  if (result.feedback !== null) throw await notConverged(kit, result.feedback)
  const after = result.valid ?? (await planTargets(kit, targets))
  if (!after.ok) throw await notConverged(kit, after.feedback)
  // The plan of a remediation is stored already.
  if (run.conversation.length === turns)
    await storePlanText(run.context, run.round, { text: after.text, targets }, run.signal)
  return after
}

async function notConverged(kit: Kit, feedback: string): Promise<PlatformError> {
  const { run, secrets } = kit
  const text = await askForText(kit, statusUpdate, { text: feedback }).catch((error: unknown) => {
    run.signal.throwIfAborted()
    run.log.warn('what the engine said was not summarised', { error })
    return ''
  })
  return new PlatformError('ImportNotConverged', 502, secrets.text(text || feedback))
}
