import { writeTaskQuery } from '../../src/chains/iac-generator.ts'
import { requestsFilter } from '../../src/chains/requests-filter.ts'
import { sessionTargets } from '../../src/chains/target-generator.ts'
import { createKit, type Kit } from '../kit/kit.ts'
import type { Outcome, Run } from '../kit/run.ts'
import { runChain } from '../kit/run-chain.ts'
import { settleStatusAfter } from '../kit/status.ts'
import { auditCompliance } from '../steps/generate/audit-compliance.ts'
import { checkDrift } from '../steps/generate/check-drift.ts'
import { createIntentValidator, type IntentCheck, startIntentCheck } from '../steps/generate/check-intent.ts'
import { decideLock } from '../steps/generate/decide-lock.ts'
import { pinPlan } from '../steps/generate/pin-plan.ts'
import { writeGenerateReport } from '../steps/generate/write-generate-report.ts'
import { composePrompts } from '../steps/shared/compose-prompts.ts'
import { generateAndValidate } from '../steps/shared/generate-and-validate.ts'
import { learnDeclaredSecrets } from '../steps/shared/learn-declared-secrets.ts'
import { readDeclarations, readFiles } from '../steps/shared/look-at-repository.ts'
import { planOutsideTargets } from '../steps/shared/plan-outside-targets.ts'
import { createPlanValidator } from '../steps/shared/validators.ts'

/**
 * Turns a request into a validated, reviewed and pinned plan (contract, section 2.2). When the request is declined, or
 * is a question that is only answered, the round ends `uncompleted` and leaves the lock and the pin as they are.
 */
export async function generate(run: Run): Promise<Outcome> {
  const kit = createKit(run)
  return await settleStatusAfter(kit.status, () => runGenerateRound(kit))
}

async function runGenerateRound(kit: Kit): Promise<Outcome> {
  const { run, status } = kit
  const { query } = run.round
  await learnDeclaredSecrets(kit)
  await status.say('filtering', query)
  const verdict = await runChain(kit, requestsFilter, { request: query, operation: 'generate' })
  if (!verdict.accepted) {
    run.conversation.push({ user: query, assistant: verdict.explanation })
    return { status: 'uncompleted', message: verdict.explanation }
  }
  const intent = startIntentCheck(kit, readDeclarations(kit, readFiles(kit)))
  try {
    return await carryOut(kit, intent)
  } finally {
    intent.stop()
  }
}

/** Carries out a request that was accepted: writes the code, plans it, reviews the plan, and pins it. */
async function carryOut(kit: Kit, intent: IntentCheck): Promise<Outcome> {
  const { query } = kit.run.round
  const conventions = await composePrompts(kit)
  const maxAttempts = kit.run.context.config.orchestration.max_validation_iteration
  const validate = createPlanValidator(kit, () => runChain(kit, sessionTargets, {}))
  const validated = await generateAndValidate(kit, {
    query,
    prompt: writeTaskQuery(query),
    operation: 'generate',
    conventions,
    forbid: true,
    maxAttempts,
    validate: createIntentValidator(kit, intent, { validate, maxAttempts }),
  })
  const plan = await checkDrift(kit, validated, conventions)
  const beyond = planOutsideTargets(kit, plan)
  const report = await writeGenerateReport(kit, plan, beyond, await intent.evaluate(plan.plan))
  const compliance = await auditCompliance(kit, { ...plan, beyond: await beyond }, conventions)
  await decideLock(kit, { report, compliance })
  await pinPlan(kit, plan)
  return { status: 'completed' }
}
