import { evaluateRules } from '../../../src/rules/evaluate.ts'
import type { CodeFindings } from '../../../src/rules/rule.ts'
import type { Kit } from '../../kit/kit.ts'
import { withFallback } from '../../kit/run.ts'
import { readCode } from '../generator/changed-code.ts'
import type { ValidPlan } from './plan.ts'

/**
 * Checks a plan against the rules as the operator grades them. The code tells policies that the plan does not know; a
 * plan is also checked when the code cannot be read.
 * @param unasked the addresses that the plan destroys although the request does not ask for it
 */
export async function checkRules(
  kit: Kit,
  { plan, reference: { targets } }: Pick<ValidPlan, 'plan' | 'reference'>,
  unasked: readonly string[] = [],
): Promise<CodeFindings> {
  const { run } = kit
  const code = await withFallback(run, 'the rules do not know the code', [], () => readCode(kit))
  return evaluateRules(plan, { targets, grades: run.context.config.orchestration.rules, unasked, code })
}
