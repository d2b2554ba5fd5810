import { writeUnmetQuery } from '../../../src/chains/iac-generator.ts'
import { intentCheck } from '../../../src/chains/intent-check.ts'
import { intentFeedback, withVerdict } from '../../../src/intent/describe.ts'
import { evaluateStatements } from '../../../src/intent/evaluate.ts'
import type { Statement, StatementResult } from '../../../src/intent/types.ts'
import type { Plan } from '../../../src/plan/plan.ts'
import type { Kit } from '../../kit/kit.ts'
import { runChain } from '../../kit/run-chain.ts'
import type { Validation } from '../shared/generate-and-validate.ts'
import type { ValidPlan } from '../shared/plan.ts'
import { planValidator } from '../shared/validators.ts'

/** The request of a round as statements, which the small model makes while the round goes on. */
export interface IntentCheck {
  /** What a plan says about them; none when there are no statements, or none in time. */
  results(plan: Plan): Promise<StatementResult[]>
  /** Ends the model's work; to be called before the round ends. */
  stop(): void
}

/** The check is worth no more than this. */
const MAX_MS = 60_000
/** How long a plan that is there waits for statements that are not. */
const GRACE_MS = 1_000

/**
 * Starts to turn the request into statements. Best effort: whatever goes wrong is logged, and the round goes
 * on unchecked.
 * @param blocks what the repository declares, as a text
 */
export function startIntentCheck(kit: Kit, blocks: Promise<string>): IntentCheck {
  const { run } = kit
  const stop = new AbortController()
  const signal = AbortSignal.any([run.signal, stop.signal, AbortSignal.timeout(MAX_MS)])
  let known: Statement[] | null = null
  const made = Promise.race([makeStatements(kit, blocks, signal), rejectOn(signal)])
    .then((statements) => {
      known = statements
    })
    .catch((error: unknown) => {
      known = []
      if (!run.signal.aborted && !stop.signal.aborted)
        run.log.warn('the request is not checked against the plan', { error })
    })
  return {
    results: async (plan) => {
      if (known === null) await within(made, GRACE_MS)
      if (known === null) stop.abort()
      return await evaluated(kit, known ?? [], plan)
    },
    stop: () => stop.abort(),
  }
}

/** A type that no provider has was guessed wrongly. The providers are asked only when something is unmet. */
async function evaluated(
  { run, engine }: Kit,
  statements: readonly Statement[],
  plan: Plan,
): Promise<StatementResult[]> {
  const cumulative = run.round.number > 1
  const results = evaluateStatements(statements, plan, { cumulative })
  if (!withVerdict(results, 'unmet').some(({ statement }) => 'type' in statement)) return results
  const names = await engine.schema.names()
  return names ? evaluateStatements(statements, plan, { cumulative, types: names.resource }) : results
}

async function makeStatements(kit: Kit, blocks: Promise<string>, signal: AbortSignal): Promise<Statement[]> {
  const { session, query } = kit.run.round
  const values = { cloud: session.provider, request: query, blocks: await blocks }
  return await runChain(kit, intentCheck, values, { signal })
}

/** For clients that do not listen to their signal. */
const rejectOn = (signal: AbortSignal) =>
  new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })

async function within(done: Promise<void>, limit_ms: number): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, limit_ms)
  })
  await Promise.race([done, late]).finally(() => clearTimeout(timer))
}

/** Attempts that may be spent on statements that a good plan does not meet. */
const MAX_SPENT = 2

/**
 * A validator that is not content with a plan that leaves statements unmet. It gives in after two attempts, and at
 * the last one, whichever comes first; a plan that it sent back stays good enough.
 */
export function checkedValidator(
  kit: Kit,
  check: IntentCheck,
  { validate, max_attempts }: { validate: () => Promise<Validation<ValidPlan>>; max_attempts: number },
): () => Promise<Validation<ValidPlan>> {
  let attempt = 0
  let spent = 0
  return async () => {
    attempt++
    const validation = await validate()
    if (!validation.ok || attempt >= max_attempts || spent >= MAX_SPENT) return validation
    const unmet = withVerdict(await check.results(validation.value.plan), 'unmet')
    if (unmet.length === 0) return validation
    spent++
    const { text, targets } = validation
    kit.run.log.info('the plan leaves statements of the request unmet', { unmet: unmet.length })
    return {
      ok: false,
      text,
      targets,
      feedback: kit.secrets.text(intentFeedback(unmet)),
      good_enough: { writeQuery: writeUnmetQuery, again: planValidator(kit, async () => targets) },
    }
  }
}
