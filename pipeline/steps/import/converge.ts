import { PlatformError } from '../../../src/base/errors.ts'
import { statusUpdate } from '../../../src/chains/status-update.ts'
import type { Kit } from '../../kit/kit.ts'
import { askForText } from '../../kit/run-chain.ts'
import { remediateDrift } from '../drift/remediate-drift.ts'
import { planTargets, type ValidPlan } from '../plan/plan.ts'
import { storePlan } from '../plan/store-plan.ts'
import type { Conventions } from '../shared/compose-prompts.ts'
import type { Ledger } from './ledger.ts'
import { addImportedTargets } from './validator.ts'

/**
 * Lets the generator make the code describe what was imported, until a plan changes nothing or the iterations are used
 * up. Answers the last plan, or `imported` when the ledger holds no import.
 * Errors: `ImportNotConverged` with a sentence of the small model about what the engine said; those of
 * `remediateDrift`.
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
  const targets = addImportedTargets(imported.reference.targets, ledger)
  const attempts = run.meter.usage().validation_attempts
  const result = await remediateDrift(kit, {
    // The imports have changed the state since the plan was made, so that a new plan is needed.
    valid: null,
    targets,
    filterSessionChanges: true,
    imported: new Set(addresses),
    conventions,
    maxIterations: run.context.config.orchestration.max_drift_reports,
  })
  if (result.feedback !== null) throw await describeNotConverged(kit, result.feedback)
  const after = result.valid ?? (await planTargets(kit, targets))
  if (!after.ok) throw await describeNotConverged(kit, after.feedback)
  // Each attempt of the generator has stored its plan. Without an attempt, this plan is new and is stored here.
  if (run.meter.usage().validation_attempts === attempts)
    await storePlan(kit, { text: after.text, targets, plan: after })
  return after
}

/**
 * Lets the small model put the words of the engine into a sentence; the error has the words themselves when it fails.
 */
async function describeNotConverged(kit: Kit, feedback: string): Promise<PlatformError> {
  const { run, secrets } = kit
  const text = await askForText(kit, statusUpdate, { text: feedback }).catch((error: unknown) => {
    run.signal.throwIfAborted()
    run.log.warn('what the engine said was not summarised', { error })
    return ''
  })
  return new PlatformError('ImportNotConverged', 502, secrets.text(text || feedback))
}
