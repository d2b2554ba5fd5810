import type { Kit } from '../../kit/kit.ts'
import type { Validation } from './generate-and-validate.ts'
import { planTargets, type ValidPlan } from './plan.ts'

/**
 * Makes a validator that plans the targets; an attempt is valid when its code can be planned.
 * @param targetsOf called for every attempt; no targets plan the whole root
 */
export const createPlanValidator =
  (kit: Kit, targetsOf: () => Promise<string[]>): (() => Promise<Validation<ValidPlan>>) =>
  async () => {
    const targets = await targetsOf()
    const result = await planTargets(kit, targets)
    return result.ok
      ? { ok: true, text: result.text, targets, value: result }
      : { ok: false, text: result.text, targets, feedback: result.feedback, step: result.step }
  }
