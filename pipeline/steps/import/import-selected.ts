import { describeImportTask, writeFeedbackQuery, writeImportQuery } from '../../../src/chains/iac-generator.ts'
import { storePlanText } from '../../../src/reports/artifacts.ts'
import type { Kit } from '../../kit/kit.ts'
import type { Conventions } from '../shared/compose-prompts.ts'
import { generateAndValidate, ValidationLoopExceeded } from '../shared/generate-and-validate.ts'
import type { ValidPlan } from '../shared/plan.ts'
import type { Ledger } from './ledger.ts'
import { validateImports } from './validator.ts'

export interface ImportTask {
  ledger: Ledger
  /** Whether an interrupted attempt of the round began the ledger. */
  resumed: boolean
  conventions: Conventions
}

/**
 * Lets the generator write a block for each pending identifier, and imports those that have one, until everything is
 * imported or the attempts are used up. Answers the last plan. What is not imported by then is reported as failed.
 * Errors: `ValidationLoopExceeded` when the last plan failed.
 */
export async function importSelected(kit: Kit, { ledger, resumed, conventions }: ImportTask): Promise<ValidPlan> {
  const ids = ledger.pending()
  const query = describeImportTask(ids)
  const earlier = resumed ? await continueEarlier(kit, ledger) : null
  if (earlier?.plan) return earlier.plan
  const last: { plan: ValidPlan | null } = { plan: null }
  try {
    return await generateAndValidate(kit, {
      query,
      prompt: earlier ? writeFeedbackQuery(earlier.feedback) : writeImportQuery(ids),
      operation: 'import',
      conventions,
      forbid: false,
      selectedIds: ids,
      maxAttempts: kit.run.context.config.orchestration.max_import_iteration,
      validate: async () => {
        const validation = await validateImports(kit, ledger)
        last.plan = validation.value ?? null
        return validation
      },
    })
  } catch (error) {
    if (!(error instanceof ValidationLoopExceeded)) throw error
    keepTurn(kit, ledger, query)
    if (!last.plan) throw error
    return last.plan
  }
}

/**
 * Validates the code of the interrupted attempt as it is, before the generator writes again. The state holds imports
 * that rely on this code.
 */
async function continueEarlier(kit: Kit, ledger: Ledger): Promise<{ plan: ValidPlan | null; feedback: string }> {
  const { run, status } = kit
  await status.say('validating', 'Waiting for infrastructure as code to be validated.')
  const validation = await validateImports(kit, ledger)
  const { text, targets } = validation
  if (text !== '') await storePlanText(run.context, run.round, { text, targets }, run.signal)
  if (!validation.ok) return { plan: null, feedback: validation.feedback }
  keepTurn(kit, ledger, run.round.query)
  return { plan: validation.value, feedback: '' }
}

/** Adds a turn that lists the imports to the conversation, for attempts in which no generator ended its task. */
function keepTurn({ run, secrets }: Kit, ledger: Ledger, user: string): void {
  const imported = ledger.imported().map(({ address, resource_id }) => `- ${address} (${resource_id})`)
  const assistant = [`Imported ${imported.length} of ${ledger.size} resources.`, ...imported].join('\n')
  run.conversation.push({ user: secrets.text(user), assistant: secrets.text(assistant) })
}
