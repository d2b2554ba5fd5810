import type { Session } from '../dev/demo/api.ts'
import type { Collected } from '../dev/demo/collect.ts'
import type { Json } from '../src/base/json.ts'
import { compareValue } from '../src/intent/compare.ts'
import { evaluateStatements } from '../src/intent/evaluate.ts'
import { fits } from '../src/intent/glob.ts'
import { stepsOf, valuesAt } from '../src/intent/values-at.ts'
import { managedChanges } from '../src/plan/changes.ts'
import type { Plan } from '../src/plan/plan.ts'
import type { Expectations } from './scenario.ts'

/** What a sample has left behind. */
export interface Outcome {
  session: Pick<Session, 'current_status' | 'is_blocked' | 'rounds'>
  collected: Pick<Collected, 'drift' | 'reports'>
  /**
   * A new plan of the session's branch; a text when the engine could not make it, null when no expectation needs it.
   */
  plan: Plan | string | null
  /** Reads a file of the branch by its path below the engine root; null when there is none. */
  file(path: string): Promise<string | null>
}

/** Whether these expectations need a plan. */
export const needsPlan = ({ plan, plan_empty }: Expectations): boolean => plan.length > 0 || plan_empty !== undefined

/**
 * Finds what is not as expected, with a text for each; empty when everything is. An expectation about a plan that could
 * not be made is not met.
 */
export async function findUnmet(expected: Expectations, outcome: Outcome): Promise<string[]> {
  const { session, collected } = outcome
  const message = session.rounds.at(-1)?.statuses.at(-1)?.message ?? ''
  const failures: string[] = []
  if (session.current_status !== expected.status)
    failures.push(`status is ${session.current_status}, not ${expected.status}: ${message.slice(0, 300)}`)
  if (expected.message !== undefined && !fits(expected.message, message))
    failures.push(`the last message is "${message.slice(0, 300)}"`)
  if (expected.locked !== undefined && session.is_blocked !== expected.locked)
    failures.push(session.is_blocked ? 'the session is locked' : 'the session is not locked')
  const changed = session.rounds.some((round) => round.code_changes.length > 0)
  if (expected.code_changed !== undefined && changed !== expected.code_changed)
    failures.push(changed ? 'code was changed' : 'no code was changed')
  if (expected.drift !== undefined && !sameNames(expected.drift, collected.drift))
    failures.push(`the drift is ${collected.drift.join(', ') || 'none'}, not ${expected.drift.join(', ') || 'none'}`)
  for (const condition of expected.reports) failures.push(...reportFailure(condition, collected.reports))
  failures.push(...planFailures(expected, outcome.plan))
  for (const wanted of expected.files) failures.push(...fileFailures(wanted, await outcome.file(wanted.path)))
  return failures
}

const sameNames = (a: readonly string[], b: readonly string[]): boolean =>
  [...new Set(a)].sort().join('\n') === [...new Set(b)].sort().join('\n')

function reportFailure({ path, op, value }: Expectations['reports'][number], reports: Collected['reports']): string[] {
  const document: Json = JSON.parse(JSON.stringify(reports))
  const { values } = valuesAt({ value: document, unknown: undefined, sensitive: undefined }, stepsOf(path))
  const holds = values.length === 0 ? op === 'absent' : values.some((found) => compareValue(found, op, value) === true)
  return holds ? [] : [`report ${path} is ${JSON.stringify(values).slice(0, 200)}, not ${op} ${value ?? ''}`.trim()]
}

function planFailures(expected: Expectations, plan: Outcome['plan']): string[] {
  if (!needsPlan(expected)) return []
  if (plan === null || typeof plan === 'string')
    return [`there is no plan of the branch: ${plan ?? 'the session did not get that far'}`]
  const failures: string[] = []
  if (expected.plan_empty !== undefined) {
    const changes = managedChanges(plan).map(({ resource, action }) => `${action} ${resource.address}`)
    if ((changes.length === 0) !== expected.plan_empty)
      failures.push(
        `a plan of the branch ${changes.length === 0 ? 'is empty' : `is not empty: ${changes.slice(0, 5).join(', ')}`}`,
      )
  }
  for (const { statement, verdict, finding: found } of evaluateStatements(expected.plan, plan))
    if (verdict !== 'met') failures.push(`${verdict}: ${statement.text} (${found})`)
  return failures
}

function fileFailures({ path, contains, lacks }: Expectations['files'][number], text: string | null): string[] {
  if (text === null) return contains === undefined && lacks !== undefined ? [] : [`there is no file ${path}`]
  const failures: string[] = []
  if (contains !== undefined && !text.includes(contains)) failures.push(`${path} does not contain "${contains}"`)
  if (lacks !== undefined && text.includes(lacks)) failures.push(`${path} contains "${lacks}"`)
  return failures
}
