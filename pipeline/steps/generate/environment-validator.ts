import { fence } from '../../../src/prompts/fence.ts'
import type { Kit } from '../../kit/kit.ts'
import type { Validation } from '../generator/generate-and-validate.ts'
import type { ValidPlan } from '../plan/plan.ts'
import { createPlanValidator } from '../plan/validators.ts'
import type { EnvironmentCheck } from './plan-environments.ts'

/**
 * Makes a validator that sends a valid plan back once when the code fails with the values of another environment with
 * which it was valid before the session. At the last attempt, and a second time, it accepts such a plan: the remarks of
 * the round then say that the environment fails.
 */
export function createEnvironmentValidator(
  kit: Kit,
  check: EnvironmentCheck,
  { validate, maxAttempts }: { validate: () => Promise<Validation<ValidPlan>>; maxAttempts: number },
): () => Promise<Validation<ValidPlan>> {
  let attempt = 0
  let isSpent = false
  return async () => {
    attempt++
    const validation = await validate()
    if (!validation.ok || attempt >= maxAttempts || isSpent) return validation
    const broken = (await check.results()).filter(({ verdict }) => verdict === 'broken')
    if (broken.length === 0) return validation
    isSpent = true
    const { text, targets } = validation
    const feedback = broken.map(({ environment, output }) => `With ${environment.path}:\n${output}`).join('\n\n')
    return {
      ok: false,
      text,
      targets,
      feedback,
      goodEnough: { writeQuery, validateAgain: createPlanValidator(kit, async () => targets) },
    }
  }
}

const writeQuery = (feedback: string): string =>
  'The code is valid with the values that the engine reads by itself, but no longer with those of other ' +
  'environments. Correct it, in the code or in the file of values, so that it is valid with each of them, and keep ' +
  `what was asked for. What the engine says:\n${fence('engine output', feedback)}`
