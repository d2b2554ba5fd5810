import { endSentence } from '../../../src/base/text.ts'
import { endsWithin, waitUnlessAborted } from '../../../src/base/time.ts'
import { writeUnmetQuery } from '../../../src/chains/iac-generator.ts'
import { intentCheck } from '../../../src/chains/intent-check.ts'
import { describeDiff } from '../../../src/chains/shared/branch-diff.ts'
import type { Plan } from '../../../src/plan/plan.ts'
import { describeUnmet, intentFeedback, withVerdict } from '../../../src/rules/intent/describe.ts'
import { evaluateStatements } from '../../../src/rules/intent/evaluate-statements.ts'
import type { Statement, StatementResult } from '../../../src/rules/intent/statement.ts'
import type { Finding } from '../../kit/attempts.ts'
import type { Kit } from '../../kit/kit.ts'
import { runChain } from '../../kit/run-chain.ts'
import type { PlanCheck } from '../plan/validators.ts'

/** A check of plans against the request of a round, which the small model turns into statements in the background. */
export type IntentCheck = ReturnType<typeof startIntentCheck>

const MAX_MS = 60_000
/** Time that a finished plan waits for unfinished statements. */
const GRACE_MS = 1_000

/**
 * Lets the small model turn request and declarations into statements. A failure is logged and skips the check.
 * @param maxMs time limit of the model call in milliseconds, after which the round continues without the check
 */
export function startIntentCheck(kit: Kit, blocks: Promise<string>, maxMs = MAX_MS) {
  const { run } = kit
  const stop = new AbortController()
  const limit = AbortSignal.timeout(maxMs)
  const signal = AbortSignal.any([run.signal, stop.signal, limit])
  let statements: Statement[] | null = null
  let failure: string | null = null
  const making = waitUnlessAborted(makeStatements(kit, blocks, signal), signal)
    .then((answer) => {
      statements = answer
    })
    .catch((error: unknown) => {
      statements = []
      failure ??= `the model made no statements of it${limit.aborted ? ` within ${maxMs / 1000} seconds` : ''}`
      if (!run.signal.aborted && !stop.signal.aborted)
        run.log.warn('the request is not checked against the plan', { error })
    })
  return {
    /** Compares a plan with the statements; returns none when there are none or they are not ready. */
    evaluate: async (plan: Plan) => {
      if (statements === null) await endsWithin(GRACE_MS, making)
      if (statements === null) {
        failure = 'the plan was ready before the statements'
        stop.abort()
      }
      return await compareWithPlan(kit, statements ?? [], plan)
    },
    /** Says why the request was not turned into statements; null when it was. */
    gap: () => (failure === null ? null : `The plan was not checked against the request: ${failure}.`),
    /** Aborts the model call; must be called before the round ends. */
    stop: () => stop.abort(),
  }
}

/** Compares a plan with the statements, except guesses about resource types that no provider has. */
async function compareWithPlan({ run, engine }: Kit, statements: readonly Statement[], plan: Plan) {
  const cumulative = run.round.number > 1
  const results = evaluateStatements(statements, plan, { cumulative })
  if (!withVerdict(results, 'unmet').some(({ statement }) => 'type' in statement)) return results
  const names = await engine.schema.names()
  return names ? evaluateStatements(statements, plan, { cumulative, types: names.resource }) : results
}

async function makeStatements(kit: Kit, blocks: Promise<string>, signal: AbortSignal): Promise<Statement[]> {
  const { session, query, number } = kit.run.round
  // The changes of earlier rounds of the session.
  const diff = number > 1 ? await kit.run.workspace.branchDiff() : []
  const shown = await blocks
  const values = {
    cloud: session.provider,
    request: query,
    blocks: shown,
    changes: describeDiff(
      diff.map((file) => ({ ...file, text: kit.secrets.text(file.text) })),
      MAX_CHANGES,
      shown,
    ),
  }
  return await runChain(kit, intentCheck, values, { signal })
}

/** Maximum characters of the diff of earlier rounds. */
const MAX_CHANGES = 8_000

/** Maximum attempts spent on unmet statements before an otherwise valid plan is accepted. */
const MAX_SPENT = 2

/** Creates the check of a loop that rejects plans with unmet statements. */
export const createStatementCheck = (kit: Kit, check: IntentCheck): PlanCheck => ({
  most: MAX_SPENT,
  writeQuery: writeUnmetQuery,
  check: async ({ plan }) => {
    const statements = await check.evaluate(plan)
    const unmet = withVerdict(statements, 'unmet')
    if (unmet.length > 0) kit.run.log.info('the plan leaves statements of the request unmet', { unmet: unmet.length })
    const known = statements.filter(({ verdict }) => verdict !== 'unknown')
    return {
      statements,
      findings: unmet.map(findingOf),
      feedback: kit.secrets.text(intentFeedback(unmet)),
      verdicts: new Map(known.map(({ statement, verdict }) => [statement.text, verdict === 'met'])),
    }
  },
})

const findingOf = ({ statement, finding }: StatementResult): Finding => ({
  severity: 'error',
  summary: `Expected: ${endSentence(statement.text)} Found: ${finding}`,
  detail: statement.words === '' ? '' : `The request says: "${statement.words}".`,
  address: 'address' in statement ? (statement.address ?? null) : null,
})

/** Records what the accepted plan leaves unmet, and begins the gaps of the round with it. Errors: `LeaseLost`. */
export async function noteUnmet({ run, secrets, attempts }: Kit, checked: readonly StatementResult[]): Promise<void> {
  const unmet = withVerdict(checked, 'unmet')
  if (unmet.length === 0) return
  run.result.gaps.unshift(secrets.text(describeUnmet(unmet)))
  await attempts.review(unmet.map((one) => ({ ...findingOf(one), severity: 'warning' })))
}
