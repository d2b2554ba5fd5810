import type { ApplyReport } from '../../../src/reports/schemas.ts'
import type { Action, OutputEvent, PlannedResource, Round } from '../../client/api/client.ts'
import { hasEnded, lastStatus } from '../../client/sessions/use-session.ts'

export type Outcome = 'success' | 'partial' | 'failed' | 'nothing' | 'unknown'

/** True for an apply round, which is recognized by its status, its report or its request. */
export const isApplyRound = ({ reports, statuses, query, attempts }: Round): boolean =>
  reports.some(({ type }) => type === 'apply') ||
  statuses.some(({ status }) => status === 'apply') ||
  (query === 'Engine apply.' && attempts.length === 0)

/** Returns the report of an apply; null for any other document. */
export function readReport(value: unknown): ApplyReport | null {
  const { summary, status, resource_changes, recommendations, execution_summary } = (value ?? {}) as ApplyReport
  const isReport =
    typeof summary === 'object' &&
    summary !== null &&
    ['Success', 'Partial', 'Failed'].includes(status) &&
    typeof execution_summary === 'string' &&
    Array.isArray(resource_changes) &&
    Array.isArray(recommendations)
  return isReport ? (value as ApplyReport) : null
}

/** Returns the outcome; unknown for a report without resources. A refused apply lists all changes as not done. */
export function outcomeOf({ status, summary, resource_changes }: ApplyReport): Outcome {
  if (status === 'Success') return 'success'
  if (status === 'Partial') return 'partial'
  if (resource_changes.length === 0 && summary.total_resources === 0) return 'unknown'
  const begun = resource_changes.some(({ action, error_message }) => action !== 'no_change' || error_message !== null)
  return begun ? 'failed' : 'nothing'
}

/** Returns how an apply round without a report ended; null while it runs. */
export function endWithoutReport(round: Round): 'cancelled' | 'failed' | 'lost' | null {
  if (!hasEnded(round) || round.reports.some(({ type }) => type === 'apply')) return null
  const status = lastStatus(round)?.status
  return status === 'uncompleted' ? 'cancelled' : status === 'failed' ? 'failed' : 'lost'
}

/** The progress of one object, as the engine printed it. */
export interface Step {
  /** The address as the engine prints it; a deposed object has its key behind it. */
  address: string
  effect: 'create' | 'change' | 'destroy' | 'read'
  /** The state. `stopped`: the engine ended with an error before it reported the end of this step. */
  state: 'running' | 'done' | 'failed' | 'stopped'
  /** The duration as the engine printed it, for example `1m10s`; empty when unknown. */
  took: string
}

export type Progress = ReturnType<typeof readProgress>

const EFFECTS: Record<string, Step['effect']> = { crea: 'create', modi: 'change', dest: 'destroy', read: 'read' }
const LONGEST_LINE = 4_000
const LINES: readonly [RegExp, Step['state']][] = [
  [/^(.+?): (Creating|Modifying|Destroying|Reading)\.\.\./, 'running'],
  [/^(.+?): Still (creating|modifying|destroying|reading)\.\.\. \[(?:.*, )?(\S+) elapsed\]/, 'running'],
  [/^(.+?): (Creation|Modifications|Destruction|Read) complete after (\S+)/, 'done'],
]
const CLOSING = /^Apply complete! Resources: /

/** Reads the engine's output of an apply up to the closing line; the outputs after it may contain any text. */
export function readProgress(events: readonly OutputEvent[]) {
  /** The steps in the order of their start. */
  const steps = new Map<string, Step>()
  /** The texts of errors, each with its first line in front. */
  const errors: string[] = []
  let isComplete = false
  for (const event of events) {
    if (event.type === 'step.ended' && event.step === 'apply') settle(steps, event.exit_code === 0)
    if (event.type !== 'lines' || event.step !== 'apply') continue
    for (const line of event.text.split('\n')) {
      if (event.stream === 'stderr') readError(line, errors, steps)
      else if (CLOSING.test(line)) isComplete = true
      else if (!isComplete && line.length <= LONGEST_LINE) readLine(line, steps)
    }
  }
  return { steps: [...steps.values()], errors }
}

function readLine(line: string, steps: Map<string, Step>): void {
  for (const [pattern, state] of LINES) {
    const [, address, word = '', took = ''] = pattern.exec(line) ?? []
    const effect = EFFECTS[word.slice(0, 4).toLowerCase()]
    if (!address || !effect) continue
    steps.set(`${effect} ${address}`, { address, effect, state, took })
    return
  }
}

/** Reads an error. The engine names its object in a line `with <address>,`; Terraform draws a frame around it. */
function readError(raw: string, errors: string[], steps: Map<string, Step>): void {
  const line = raw.replace(/^│ ?/, '').trimEnd()
  if (/^Error: /.test(line)) {
    errors.push(line)
    return
  }
  const address = /^\s+with (.+),$/.exec(line.slice(0, LONGEST_LINE))?.[1]
  if (address !== undefined && errors.length > 0)
    for (const step of steps.values()) if (step.address === address && step.state === 'running') step.state = 'failed'
  if (errors.length > 0 && !/^[╷╵]/.test(line)) errors.push(`${errors.pop()}\n${line}`.trimEnd())
}

/** Ends all running steps when the engine has ended. */
function settle(steps: Map<string, Step>, isGood: boolean): void {
  for (const step of steps.values()) if (step.state === 'running') step.state = isGood ? 'done' : 'stopped'
}

const STEPS: Partial<Record<Action, number>> = { create: 1, update: 1, replace: 2, delete: 1 }

/** Returns the number of steps of an apply; a replacement counts as two. */
export const countPlanned = (resources: readonly PlannedResource[]): number =>
  resources.reduce((sum, { action }) => sum + (STEPS[action] ?? 0), 0)

/** Returns the progress of an apply, without reads. */
export function countSteps({ steps }: Pick<Progress, 'steps'>) {
  const count = (...states: Step['state'][]) =>
    steps.filter(({ effect, state }) => effect !== 'read' && states.includes(state)).length
  return { done: count('done'), running: count('running'), failed: count('failed', 'stopped') }
}
