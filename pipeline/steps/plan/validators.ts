import type { Kit } from '../../kit/kit.ts'
import type { Validation } from '../generator/generate-and-validate.ts'
import { planTargets, type ValidPlan } from './plan.ts'
import { chooseSessionTargets, fixedTargets, type TargetChoice } from './targets.ts'

/** Creates a validator that plans the targets of valid code; no targets plan the whole root. */
export const createPlanValidator = (
  kit: Kit,
  targetsOf: () => Promise<string[]>,
): (() => Promise<Validation<ValidPlan>>) => createChoiceValidator(kit, { ...fixedTargets(kit, []), choose: targetsOf })

/** Creates a validator for all attempts of one round, which plans what the session changed. */
export const createSessionValidator = (kit: Kit): (() => Promise<Validation<ValidPlan>>) =>
  createChoiceValidator(kit, chooseSessionTargets(kit))

const createChoiceValidator = (kit: Kit, choice: TargetChoice) => async (): Promise<Validation<ValidPlan>> => {
  const result = await planTargets(kit, choice)
  return result.ok
    ? { ok: true, text: result.text, targets: result.reference.targets, value: result, plan: result }
    : { ok: false, text: result.text, targets: result.targets, feedback: result.feedback, step: result.step }
}
