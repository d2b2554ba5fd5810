import { join } from 'node:path'
import { type Api, ApiError, download, type Session } from '../../dev/demo/api.ts'
import type { Collected } from '../../dev/demo/collect.ts'
import { readText } from '../../dev/files.ts'
import type { Json } from '../../src/base/json.ts'
import type { Plan } from '../../src/plan/plan.ts'
import { managedChanges, stateIdentifiers } from '../../src/plan/planned-changes.ts'
import { compareValue, stepsOf, valuesAt } from '../../src/rules/intent/condition.ts'
import { evaluateStatements } from '../../src/rules/intent/evaluate-statements.ts'
import { fits } from '../../src/rules/intent/glob.ts'
import type { EvalStack } from '../stack.ts'
import type { Expectations, Words } from './scenario.ts'

/** The results of a sample. */
export interface Outcome {
  session: Pick<Session, 'current_status' | 'is_blocked' | 'rounds'>
  collected: Pick<Collected, 'drift' | 'reports'>
  /** A new plan of the session's branch; a text if the engine failed, null if no expectation needs it. */
  plan: Plan | string | null
  /** Reads a file of the branch by its path below the engine root; null if there is none. */
  file(path: string): Promise<string | null>
  /** Blocks of the branch that have an identifier in a comment; null if no expectation needs them. */
  commented: { address: string; resource_id: string }[] | null
  /** Files of the branch that `fmt` would change; null if no expectation needs it, or if there is no branch. */
  unformatted: string[] | null
  evidence: Evidence
}

/** Finds the unmet expectations as texts. Without a plan, an expectation about it is unmet. */
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
  if (needsPlan(expected)) failures.push(...planFailures(expected, outcome.plan))
  for (const wanted of expected.files) failures.push(...fileFailures(wanted, await outcome.file(wanted.path)))
  if (expected.identified !== undefined) failures.push(...stateFailures(expected.identified, outcome))
  if (expected.formatted) failures.push(...formatFailures(outcome.unformatted))
  failures.push(...evidenceFailures(expected, outcome.evidence))
  return failures
}

function stateFailures(count: number, { commented, plan }: Outcome): string[] {
  if (commented === null || plan === null || typeof plan === 'string') return ['there is no state to compare with']
  const state = stateIdentifiers(plan)
  const failures = commented.length === count ? [] : [`${commented.length} blocks name an identifier, not ${count}`]
  for (const { address, resource_id } of commented)
    if (state.get(address) !== resource_id)
      failures.push(`${address} names ${resource_id}, the state has ${state.get(address) ?? 'no such resource'}`)
  return failures
}

function formatFailures(unformatted: Outcome['unformatted']): string[] {
  if (unformatted === null) return ['there is no branch whose format could be checked']
  return unformatted.length === 0 ? [] : [`not formatted: ${unformatted.slice(0, 5).join(', ')}`]
}

function evidenceFailures(expected: Expectations, evidence: Evidence): string[] {
  const failures: string[] = []
  for (const wanted of expected.turn) failures.push(...wordFailures('the last turn', wanted, evidence.turn))
  for (const wanted of expected.notes) failures.push(...wordFailures('the notes', wanted, evidence.notes.join('\n')))
  for (const wanted of expected.pull_request)
    failures.push(
      ...wordFailures('the pull request', wanted, evidence.pull_request, evidence.pull_request?.indexOf('\n')),
    )
  const found = evidence.findings.filter((id) => expected.audit_lacks.some((pattern) => fits(pattern, id)))
  if (found.length > 0) failures.push(`the compliance check found ${[...new Set(found)].join(', ')}`)
  if (expected.max_calls !== undefined && evidence.model_calls > expected.max_calls)
    failures.push(`${evidence.model_calls} model calls, more than ${expected.max_calls}`)
  return failures
}

/**
 * @param text null if there is none, which lacks everything but contains nothing either
 * @param from where its first line begins
 */
function wordFailures(what: string, { contains, lacks, begins }: Words, text: string | null, from = 0): string[] {
  const has = (words: string, whole = text ?? '') =>
    words.split('|').some((one) => whole.toLowerCase().includes(one.trim().toLowerCase()))
  const failures: string[] = []
  if (contains !== undefined && !has(contains))
    failures.push(`"${contains}" is not in ${what}: ${text?.slice(0, 200) ?? 'there is none'}`)
  const start = text?.slice(from).trim().split('\n')[0] ?? ''
  if (begins !== undefined && !has(begins, start))
    failures.push(`"${begins}" is not in the beginning of ${what}: ${start.slice(0, 300)}`)
  if (lacks !== undefined && has(lacks)) failures.push(`"${lacks}" is in ${what}: ${text?.slice(0, 200)}`)
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

function fileFailures({ path, contains, lacks }: Expectations['files'][number], text: string | null): string[] {
  if (text === null) return contains === undefined && lacks !== undefined ? [] : [`there is no file ${path}`]
  const failures: string[] = []
  if (contains !== undefined && !text.includes(contains)) failures.push(`${path} does not contain "${contains}"`)
  if (lacks !== undefined && text.includes(lacks)) failures.push(`${path} contains "${lacks}"`)
  return failures
}

/** True if these expectations need a plan. */
export const needsPlan = ({ plan, plan_empty, moved, identified }: Expectations): boolean =>
  plan.length > 0 || moved.length > 0 || plan_empty !== undefined || identified !== undefined

/** @param plan a text is the reason why there is none */
function planFailures(expected: Expectations, plan: Plan | string | null): string[] {
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
  for (const wanted of expected.moved) failures.push(...moveFailures(wanted, plan))
  return failures
}

/** Finds faults of a move, which must neither create the object again nor delete the old address. */
function moveFailures({ from, to }: Expectations['moved'][number], plan: Plan): string[] {
  const moved = plan.resource_changes.filter(
    ({ address, previous_address }) =>
      previous_address !== undefined && fits(from, previous_address) && fits(to, address),
  )
  if (moved.length === 0) return [`the plan moves nothing from ${from} to ${to}`]
  const lost = moved.filter(({ change }) => change.actions.includes('delete') || change.actions.includes('create'))
  return lost.map(({ address, change }) => `${address} is moved, and ${change.actions.join(' and ')}`)
}

/** Results of a session beside artifacts and code. Parts without an expectation are empty. */
type Evidence = Awaited<ReturnType<typeof collectEvidence>>

/** Collects what the expectations need. The pull request is opened for this. Errors: those of the harness. */
export async function collectEvidence(
  { stack, api, uri, signal }: { stack: EvalStack; api: Api; uri: string; signal: AbortSignal },
  session: Session,
  expected: Expectations,
) {
  const counted = expected.max_calls !== undefined || expected.notes.length > 0
  const { model_calls, notes } = counted ? await stack.roundFacts(session.uuid) : { model_calls: 0, notes: [] }
  return {
    /** The kept answer to the last request; null if there is no conversation. */
    turn: expected.turn.length > 0 ? await lastTurn(api, session) : null,
    /** Rule ids of the last compliance check. */
    findings: expected.audit_lacks.length > 0 ? await lastFindings(session, signal) : [],
    /** Model calls of all rounds together, without status texts. */
    model_calls,
    /** Remarks of code for reviewers, of all rounds together. */
    notes,
    /** Title and text of the pull request, or the reason why there is none; null if it was not opened. */
    pull_request: expected.pull_request.length > 0 ? await openPullRequest(stack, api, uri, session) : null,
  }
}

async function lastTurn(api: Api, { uuid }: Session): Promise<string | null> {
  const { history } = await api.session(`${uuid}&include_history=true`)
  return history?.at(-1)?.assistant ?? null
}

async function lastFindings({ rounds }: Session, signal: AbortSignal): Promise<string[]> {
  const check = rounds.flatMap((round) => round.compliance_checks).at(-1)
  if (!check) return []
  const { violations } = JSON.parse((await download(check, signal)).text) as { violations: { rule_id: string }[] }
  return violations.map(({ rule_id }) => rule_id)
}

async function openPullRequest({ git_host }: EvalStack, api: Api, uri: string, { uuid }: Session): Promise<string> {
  try {
    await api.openPullRequest(uuid)
  } catch (error) {
    if (error instanceof ApiError) return error.message
    throw error
  }
  // The stack's git host keeps its pull requests in this file, which avoids trusting its certificate.
  const text = await readText(join(git_host.pathOf(uri), 'platform-pulls.json'))
  const pulls: { title: string; body: string }[] = JSON.parse(text ?? '[]')
  return pulls.map(({ title, body }) => `${title}\n\n${body}`).join('\n\n')
}
