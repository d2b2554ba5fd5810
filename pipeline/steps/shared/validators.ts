import type { Kit } from '../../kit/kit.ts'
import type { Validation } from './generate-and-validate.ts'
import { planTargets, type ValidPlan } from './plan.ts'

/**
 * A validator that plans what `targetsOf` names.
 * @param targetsOf asked anew for every attempt; none plans the whole root
 */
export const planValidator =
  (kit: Kit, targetsOf: () => Promise<string[]>): (() => Promise<Validation<ValidPlan>>) =>
  async () => {
    const targets = await targetsOf()
    const result = await planTargets(kit, targets)
    return result.ok
      ? { ok: true, text: result.text, targets, value: result }
      : { ok: false, text: result.text, targets, feedback: result.feedback, step: result.step }
  }
