import { fence } from '../../../src/prompts/fence.ts'
import type { Finding } from '../../kit/findings.ts'
import type { Kit } from '../../kit/kit.ts'
import type { Validation } from '../generator/generate-and-validate.ts'
import type { ValidPlan } from '../plan/plan.ts'
import { createPlanValidator } from '../plan/validators.ts'
import type { EnvironmentCheck, EnvironmentResult } from './plan-environments.ts'

/** Creates a validator that once rejects a plan whose code breaks another environment, which was valid before. */
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
    const planAll = async () => (await check.results()).filter(({ verdict }) => verdict === 'broken')
    const broken = await kit.attempts.step('check', planAll, ({ length }) => length === 0)
    if (broken.length === 0) return validation
    isSpent = true
    kit.attempts.diagnose('check', broken.map(findingOf))
    const { text, targets, plan } = validation
    const feedback = broken.map(({ environment, output }) => `With ${environment.path}:\n${output}`).join('\n\n')
    return {
      ok: false,
      text,
      targets,
      ...(plan && { plan }),
      feedback,
      goodEnough: { writeQuery, validateAgain: createPlanValidator(kit, async () => targets) },
    }
  }
}

const findingOf = ({ environment, facts, output }: EnvironmentResult): Finding => ({
  severity: 'error',
  summary: `The code fails with the values of ${environment.path}: ${facts}`,
  detail: output,
  file: environment.path,
})

const writeQuery = (feedback: string): string =>
  'The code is valid with the values that the engine reads by itself, but no longer with those of other ' +
  'environments. Correct it, in the code or in the file of values, so that it is valid with each of them, and keep ' +
  `what was asked for. What the engine says:\n${fence('engine output', feedback)}`
