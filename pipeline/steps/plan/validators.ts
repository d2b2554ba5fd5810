import type { StatementResult } from '../../../src/rules/intent/statement.ts'
import type { Finding } from '../../kit/attempts.ts'
import type { Kit } from '../../kit/kit.ts'
import type { Validation } from '../generator/generate-and-validate.ts'
import { planTargets, type ValidPlan } from './plan.ts'
import { fixedTargets, type TargetChoice } from './targets.ts'

export type PlanValidator = () => Promise<Validation<ValidPlan>>

/** Creates a validator that plans the targets of valid code; no targets plan the whole root. */
export const createPlanValidator = (kit: Kit, targetsOf: () => Promise<string[]>): PlanValidator =>
  createChoiceValidator(kit, { ...fixedTargets(kit, []), choose: targetsOf })

/** The result of a check of a valid plan. */
interface PlanCheck {
  /** The reasons to write the code again; empty when there are none. */
  findings: Finding[]
  /** The same for the generator. */
  feedback: string
  statements?: readonly StatementResult[]
}

/** Creates a validator that rejects checked plans, which stay good enough, up to `most` times and not at the end. */
export function createCheckedValidator(
  kit: Kit,
  { validate, maxAttempts, most }: { validate: PlanValidator; maxAttempts: number; most: number },
  check: (plan: ValidPlan) => Promise<PlanCheck>,
  writeQuery: (feedback: string) => string,
): PlanValidator {
  let attempt = 0
  let spent = 0
  return async () => {
    attempt++
    const validation = await validate()
    if (!validation.ok || attempt >= maxAttempts || spent >= most) return validation
    const isMet = ({ findings }: PlanCheck) => findings.length === 0
    const { findings, feedback, ...more } = await kit.attempts.step('check', () => check(validation.value), isMet)
    if (findings.length === 0) return { ...validation, ...more }
    spent++
    kit.attempts.diagnose('check', findings)
    const { text, targets, plan } = validation
    const goodEnough = { writeQuery, validateAgain: createPlanValidator(kit, async () => targets) }
    return { ok: false, text, targets, ...(plan && { plan }), ...more, feedback, goodEnough }
  }
}

/** Creates a validator that plans the chosen targets of valid code. */
export const createChoiceValidator = (kit: Kit, choice: TargetChoice) => async (): Promise<Validation<ValidPlan>> => {
  const result = await planTargets(kit, choice)
  return result.ok
    ? { ok: true, text: result.text, targets: result.reference.targets, value: result, plan: result }
    : result
}
