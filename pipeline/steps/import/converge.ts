import { PlatformError } from '../../../src/base/errors.ts'
import { statusUpdate } from '../../../src/chains/status-update.ts'
import type { Kit } from '../../kit/kit.ts'
import { withFallback } from '../../kit/run.ts'
import { askForText } from '../../kit/run-chain.ts'
import { remediateDrift } from '../drift/remediate-drift.ts'
import { planTargets, type ValidPlan } from '../plan/plan.ts'
import { storePlan } from '../plan/store-plan.ts'
import type { Conventions } from '../shared/compose-prompts.ts'
import type { Ledger } from './ledger.ts'
import { addImportedTargets } from './validator.ts'

/**
 * Lets the generator adapt the code to the imports until a plan changes nothing or the iterations are used up. Returns
 * the last plan, or `imported` without an import in the ledger. Errors: `ImportNotConverged` with a sentence by the
 * small model; those of `remediateDrift`.
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
    // The imports have changed the state since the plan was made.
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
  // Attempts of the generator store their plans; without one, this plan is new and is stored here.
  if (run.meter.usage().validation_attempts === attempts)
    await storePlan(kit, { text: after.text, targets, plan: after })
  return after
}

/** Lets the small model summarise the engine output; the error has the output itself on failure. */
async function describeNotConverged(kit: Kit, feedback: string): Promise<PlatformError> {
  const { run, secrets } = kit
  const text = await withFallback(run, 'what the engine said was not summarised', '', () =>
    askForText(kit, statusUpdate, { text: feedback }),
  )
  return new PlatformError('ImportNotConverged', 502, secrets.text(text || feedback))
}
