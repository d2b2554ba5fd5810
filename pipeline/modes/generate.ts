import { PlatformError } from '../../src/base/errors.ts'
import { allInOrder } from '../../src/base/gate.ts'
import type { Turn } from '../../src/base/vocabulary.ts'
import { writeTaskQuery } from '../../src/chains/iac-generator.ts'
import { listChanges } from '../../src/plan/change-list.ts'
import { type DriftOperation, describeWritten } from '../../src/plan/drift.ts'
import type { EngineResult } from '../../src/services/iac/contract.ts'
import type { Kit } from '../kit/kit.ts'
import type { Outcome } from '../kit/run.ts'
import { findFiles } from '../steps/drift/find-files.ts'
import { remediateDrift } from '../steps/drift/remediate-drift.ts'
import { createStatementCheck, type IntentCheck, noteUnmet, startIntentCheck } from '../steps/generate/check-intent.ts'
import { createUnaskedCheck, findUnasked } from '../steps/generate/find-unasked.ts'
import { findUnplanned } from '../steps/generate/find-unplanned.ts'
import {
  createEnvironmentCheck,
  createEnvironmentsCheck,
  type EnvironmentCheck,
} from '../steps/generate/plan-environments.ts'
import { type AuditFinding, keepReview, returnFindings } from '../steps/generate/return-findings.ts'
import { createRuleCheck, decideLock, reviewPlan } from '../steps/generate/review-plan.ts'
import { savePlan, sealPlan } from '../steps/generate/save-plan.ts'
import { describeOthersChanges, describeResult, joinParts } from '../steps/generator/compose-result.ts'
import { openGeneration } from '../steps/generator/generate-and-validate.ts'
import { LeftUnchanged } from '../steps/generator/validation.ts'
import { planOutsideTargets, type ValidPlan } from '../steps/plan/plan.ts'
import { completePlanDocument } from '../steps/plan/store-plan.ts'
import { chooseSessionTargets } from '../steps/plan/targets.ts'
import { createCheckedValidator, createChoiceValidator } from '../steps/plan/validators.ts'
import { assertRootIsSupported } from '../steps/shared/check-root.ts'
import { type Conventions, composePrompts } from '../steps/shared/compose-prompts.ts'
import { initialiseAhead } from '../steps/shared/initialise-ahead.ts'
import { decline, judgeRequest } from '../steps/shared/judge-request.ts'
import { learnDeclaredSecrets, readDeclarations, readForStatements } from '../steps/shared/look-at-repository.ts'

/** Turns a request into a saved plan; a declined or answered one ends `uncompleted` and changes nothing. */
export async function generate(kit: Kit): Promise<Outcome> {
  const { run, status } = kit
  await allInOrder([assertRootIsSupported(kit), learnDeclaredSecrets(kit)])
  await status.say('filtering', run.round.query)
  const declarations = readDeclarations(kit)
  // The files are read before init adds some.
  await declarations
  const ahead = initialiseAhead(kit)
  try {
    const { accepted, explanation } = await judgeRequest(kit, 'generate', declarations)
    if (!accepted) return decline(run, explanation)
    const intent = startIntentCheck(kit, readForStatements(kit, declarations))
    return await carryOut(kit, intent, { judgement: explanation, initialising: ahead.take() }).finally(intent.stop)
  } catch (error) {
    // The session goes on, so that its next request may ask to mend what was broken before it.
    if (error instanceof LeftUnchanged && error.isOlder) return decline(run, error.message)
    throw error
  } finally {
    await ahead.settle()
  }
}

/**
 * Carries out an accepted request: writes the code, plans it, reviews the plan, and saves it.
 * @param accepted.judgement why the request was accepted
 * @param accepted.initialising the end of the init
 */
async function carryOut(
  kit: Kit,
  intent: IntentCheck,
  { judgement, initialising }: { judgement: string; initialising: Promise<EngineResult | null> },
): Promise<Outcome> {
  const { run, secrets } = kit
  const { query } = run.round
  // The generator is told from its first call on what init installs. The first attempt repeats an init that failed.
  const initialised = Promise.allSettled([initialising])
  const conventions = await composePrompts(kit, initialised).finally(() => initialised)
  await initialising
  void kit.base.start()
  const maxAttempts = run.context.config.orchestration.max_validation_iteration
  const environments = createEnvironmentCheck(kit)
  const validate = createChoiceValidator(kit, chooseSessionTargets(kit))
  const checks = [
    createEnvironmentsCheck(environments),
    createStatementCheck(kit, intent),
    createUnaskedCheck(kit, intent),
    createRuleCheck(kit),
  ]
  const start = structuredClone(run.result)
  const generation = await openGeneration(kit, {
    query,
    prompt: writeTaskQuery(query, judgement),
    operation: 'generate',
    conventions,
    forbid: true,
    maxAttempts,
    validate: createCheckedValidator(kit, { validate, maxAttempts }, checks),
  })
  const turn: Turn = { user: secrets.text(query), assistant: describeResult(run.result) }
  run.conversation.push(turn)
  const settling = { intent, conventions, environments, turn }
  let settled = await settle(kit, generation.value, settling)
  const { objections } = settled.review
  if (objections.length > 0 && generation.again) {
    const reviewed = structuredClone(run.result)
    Object.assign(run.result, structuredClone(start))
    const returned = await returnFindings(kit, generation.again, { reviewed: settled.plan, objections })
    settled = returned.isSame
      ? {
          ...settled,
          plan: returned.valid,
          beside: null,
          review: keepReview(kit, settled.review, { ...returned, reviewed, objections }),
        }
      : await settle(kit, returned.valid, { ...settling, returned: objections })
    turn.assistant = joinParts([describeResult(run.result), describeOthersChanges(run.result)])
  }
  const { plan, checked, review, beside } = settled
  await (beside?.completed ?? completePlanDocument(kit, plan, { beyond: await settled.beyond, checked }))
  await decideLock(kit, review)
  await savePlan(kit, plan, await beside?.seal)
  return { status: 'completed' }
}

interface Settling {
  intent: IntentCheck
  conventions: Conventions
  environments: EnvironmentCheck
  turn: Turn
  returned?: readonly AuditFinding[]
}

/** Brings others' changes into valid code, and reviews the plan of the result. */
async function settle(kit: Kit, valid: ValidPlan, { intent, conventions, environments, turn, returned }: Settling) {
  const { run, secrets } = kit
  const plan = await checkDrift(kit, valid, conventions)
  run.result.gaps.unshift(...(await findUnplanned(kit, plan)))
  run.result.changes = listChanges(plan.plan, secrets)
  const beyond = planOutsideTargets(kit, plan)
  const checked = await intent.evaluate(plan.plan)
  await noteUnmet(kit, checked)
  const unasked = await findUnasked(kit, intent, plan.plan)
  run.result.losses = unasked.losses.map(({ address }) => secrets.text(address))
  // What a round destroys unasked is its first sentence.
  run.result.gaps.unshift(...unasked.sentences)
  turn.assistant = joinParts([describeResult(run.result), describeOthersChanges(run.result)])
  const unchecked = intent.gap()
  if (unchecked !== null) run.result.gaps.push(unchecked)
  else if (checked.length === 0) run.result.notes.push(NO_STATEMENT)
  // What does not depend on report and audit is ready when they are.
  let beside: Beside | null = null
  const review = await reviewPlan(kit, plan, {
    ...{ beyond, checked, conventions, environments, unasked, returned },
    beside: async () => {
      beside = {
        seal: sealPlan(kit, plan),
        completed: completePlanDocument(kit, plan, { beyond: await beyond, checked }),
      }
      await Promise.allSettled([beside.seal, beside.completed])
    },
  })
  return { plan, beyond, checked, review, beside: beside as Beside | null }
}

interface Beside {
  seal: ReturnType<typeof sealPlan>
  completed: Promise<void>
}

const NO_STATEMENT = 'The request states nothing that code can compare with a plan, so that no statement was checked.'

/** Maximum number of times that a generate round reads and remediates drift. */
const ITERATIONS = 2

/**
 * Brings changes by others to the targeted infrastructure into the code before the review, adds one line for each to
 * the result, and returns the plan of the resulting code. The session's own changes stay. Errors: `DriftCheckFailed`
 * with the engine output when drift cannot be read.
 */
export async function checkDrift(kit: Kit, valid: ValidPlan, conventions: Conventions): Promise<ValidPlan> {
  const before = await kit.run.workspace.head()
  const result = await remediateDrift(kit, {
    valid,
    targets: valid.reference.targets,
    filterSessionChanges: true,
    conventions,
    maxIterations: ITERATIONS,
  })
  if (result.feedback !== null || !result.valid)
    throw new PlatformError('DriftCheckFailed', 502, result.feedback ?? 'engine plan failed')
  if (result.written.length > 0) await recordWritten(kit, result.written, await kit.run.workspace.changedFiles(before))
  return result.valid
}

/** Records the written changes; without a changed file the drift has disappeared by itself. */
async function recordWritten(kit: Kit, written: readonly DriftOperation[], files: readonly string[]) {
  if (files.length === 0) return
  const { run, secrets } = kit
  const fileOf = await findFiles(kit, files)
  for (const operation of written)
    run.result.drift.push(secrets.text(describeWritten(operation, fileOf(operation.address))))
}
