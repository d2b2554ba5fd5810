import type { StatementResult } from '../../../src/rules/intent/statement.ts'
import type { Finding } from '../../kit/attempts.ts'
import type { Kit } from '../../kit/kit.ts'
import type { Validation } from '../generator/validation.ts'
import { planTargets, type ValidPlan } from './plan.ts'
import { fixedTargets, type TargetChoice } from './targets.ts'

export type PlanValidator = () => Promise<Validation<ValidPlan>>

/** Creates a validator that plans the targets of valid code; no targets plan the whole root. */
export const createPlanValidator = (kit: Kit, targetsOf: () => Promise<string[]>): PlanValidator =>
  createChoiceValidator(kit, { ...fixedTargets(kit, []), choose: targetsOf })

/** A check of every valid plan, beside those of the engine. */
export interface PlanCheck {
  check: (plan: ValidPlan) => Promise<CheckResult>
  /** Attempts that its findings may cost in a loop. */
  most: number
  /** Writes the query for the next attempt. */
  writeQuery: (feedback: string) => string
}

interface CheckResult {
  /** The reasons to write the code again; empty when there are none. */
  findings: Finding[]
  /** The same for the generator. */
  feedback: string
  /** What was checked, by a name that stays the same from plan to plan; what cannot be known is left out. */
  verdicts: ReadonlyMap<string, boolean>
  statements?: readonly StatementResult[]
}

/**
 * Creates a validator that runs all checks on every valid plan. Findings reject it, so that it stays good enough, until
 * each check with findings has cost what it may, and never at the last attempt.
 */
export function createCheckedValidator(
  kit: Kit,
  { validate, maxAttempts }: { validate: PlanValidator; maxAttempts: number },
  checks: readonly PlanCheck[],
): PlanValidator {
  let attempt = 0
  const spent = new Map<PlanCheck, number>()
  const runCheck = async (one: PlanCheck, plan: ValidPlan) => {
    const result = await one.check(plan)
    const cost = spent.get(one) ?? 0
    const rejects = result.findings.length > 0 && cost < one.most && attempt < maxAttempts
    if (rejects) spent.set(one, cost + 1)
    return { ...result, rejects, query: one.writeQuery(result.feedback) }
  }
  return async () => {
    attempt++
    const validation = await validate()
    if (!validation.ok) return validation
    const runChecks = async () => {
      const results: Awaited<ReturnType<typeof runCheck>>[] = []
      for (const one of checks) results.push(await runCheck(one, validation.value))
      return results
    }
    const isClean = (all: { findings: Finding[] }[]) => all.every(({ findings }) => findings.length === 0)
    const results = await kit.attempts.step('check', runChecks, isClean)
    const statements = results.find((result) => result.statements)?.statements
    const checked = {
      ...(statements && { statements }),
      verdicts: new Map(results.flatMap(({ verdicts }) => [...verdicts])),
    }
    const rejecting = results.filter(({ rejects }) => rejects)
    if (rejecting.length === 0) return { ...validation, ...checked }
    kit.attempts.diagnose(
      'check',
      rejecting.flatMap(({ findings }) => findings),
    )
    const { text, targets, plan } = validation
    const query = rejecting.map((one) => one.query).join('\n\n')
    const feedback = rejecting.map((one) => one.feedback).join('\n\n')
    const goodEnough = { query, validateAgain: createPlanValidator(kit, async () => targets) }
    return { ok: false, text, targets, ...(plan && { plan }), ...checked, feedback, goodEnough }
  }
}

/** Creates a validator that plans the chosen targets of valid code. */
export const createChoiceValidator = (kit: Kit, choice: TargetChoice) => async (): Promise<Validation<ValidPlan>> => {
  const result = await planTargets(kit, choice)
  return result.ok
    ? { ok: true, text: result.text, targets: result.reference.targets, value: result, plan: result }
    : result
}
