import { PlatformError } from '../../../src/base/errors.ts'
import { describeImportTask, writeFeedbackQuery, writeImportQuery } from '../../../src/chains/iac-generator.ts'
import { statusUpdate } from '../../../src/chains/status-update.ts'
import type { Pair } from '../../../src/plan/imports/pairs.ts'
import type { Kit } from '../../kit/kit.ts'
import { withFallback } from '../../kit/run.ts'
import { askForText } from '../../kit/run-chain.ts'
import { remediateDrift } from '../drift/remediate-drift.ts'
import { describeResult } from '../generator/compose-result.ts'
import { generateAndValidate } from '../generator/generate-and-validate.ts'
import { type Validation, ValidationLoopExceeded, wordsAbout } from '../generator/validation.ts'
import { planTargets, type ValidPlan } from '../plan/plan.ts'
import { storePlan } from '../plan/store-plan.ts'
import type { Conventions } from '../shared/compose-prompts.ts'
import type { Ledger } from './ledger.ts'
import { addImportedTargets, createImportValidator } from './validator.ts'

/**
 * Lets the generator write a block for each pending identifier and imports those with one, until all are imported or
 * the attempts are used up. Returns the last plan; the rest is reported as failed. Errors: `ValidationLoopExceeded`
 * when the last plan failed.
 * @param task.resumed true if an interrupted attempt of the round began the ledger
 */
export async function importSelected(
  kit: Kit,
  task: { ledger: Ledger; resumed: boolean; conventions: Conventions },
): Promise<ValidPlan> {
  const { ledger, resumed, conventions } = task
  const ids = ledger.pending()
  const query = describeImportTask(ids)
  const validate = createImportValidator(kit, ledger)
  const earlier = resumed ? await continueEarlier(kit, ledger, validate) : null
  if (earlier?.plan) return earlier.plan
  const last: { plan: ValidPlan | null } = { plan: null }
  try {
    const plan = await generateAndValidate(kit, {
      query,
      prompt: earlier ? earlier.query : writeImportQuery(ids),
      operation: 'import',
      conventions,
      forbid: false,
      importIds: ids,
      maxAttempts: kit.run.context.config.orchestration.max_import_iteration,
      validate: async () => {
        const validation = await validate()
        last.plan = validation.value ?? null
        return validation
      },
    })
    kit.run.conversation.push({ user: wordsOf(kit), assistant: describeResult(kit.run.result) })
    return plan
  } catch (error) {
    if (!(error instanceof ValidationLoopExceeded)) throw error
    keepTurn(kit, ledger)
    if (!last.plan) throw error
    return last.plan
  }
}

/** Validates the code of the interrupted attempt first, because imports in the state rely on it. */
async function continueEarlier(kit: Kit, ledger: Ledger, validate: () => Promise<Validation<ValidPlan>>) {
  const { status } = kit
  await status.show('validating', 'Waiting for infrastructure as code to be validated.')
  const facts = { task: 'import', reason: null, judge: wordsAbout } as const
  const validation = await kit.attempts.record(facts, validate)
  await storePlan(kit, validation)
  if (!validation.ok) return { plan: null, query: validation.query ?? writeFeedbackQuery(validation.feedback) }
  keepTurn(kit, ledger)
  return { plan: validation.value, query: '' }
}

/** Returns the user's own words, for the history; the platform's where there are none. */
const wordsOf = ({ run, secrets }: Kit): string =>
  secrets.text(run.round.query).trim() || 'Import the selected resources.'

/** Adds the imports to result and conversation when no generator ended its task. */
function keepTurn(kit: Kit, ledger: Ledger): void {
  const { run, secrets } = kit
  const imported = ledger.imported().map(({ address, resource_id }) => `- ${address} (${resource_id})`)
  const summary = [`Imported ${imported.length} of ${ledger.size} resources.`, ...imported].join('\n')
  run.result.summary = secrets.text(summary)
  run.conversation.push({ user: wordsOf(kit), assistant: describeResult(run.result) })
}

/**
 * Lets the generator adapt the code to the imports, but those that were misplaced, until a plan changes nothing or the
 * iterations are used up. Returns the last plan, or `imported` without an import in the ledger. Errors:
 * `ImportNotConverged` with a sentence by the small model; those of `remediateDrift`.
 */
export async function converge(
  kit: Kit,
  task: { ledger: Ledger; misplaced: readonly Pair[]; imported: ValidPlan; conventions: Conventions },
) {
  const { ledger, misplaced, imported, conventions } = task
  const addresses = ledger.imported().map(({ address }) => address)
  if (addresses.length === 0) return imported
  // A block that is made to describe the object of another one would hide the fault.
  const own = addresses.filter((address) => misplaced.every((one) => one.address !== address))
  const { run } = kit
  const targets = addImportedTargets(imported.reference.targets, ledger)
  const attempts = run.meter.usage().validation_attempts
  const result = await remediateDrift(kit, {
    // The imports have changed the state since the plan was made.
    valid: null,
    targets,
    filterSessionChanges: true,
    imported: new Set(own),
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
    askForText(kit, statusUpdate, { text: feedback, request: run.round.query }),
  )
  return new PlatformError('ImportNotConverged', 502, secrets.text(text || feedback))
}
