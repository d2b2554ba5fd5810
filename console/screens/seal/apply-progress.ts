import type { OutputEvent, PlannedResource } from '../../client/api/schemas.ts'

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

export interface Progress {
  /** The steps in the order of their start. */
  steps: Step[]
  /** True once the engine printed that it is done. */
  isComplete: boolean
  /** The texts of errors, each with its first line in front. */
  errors: string[]
}

const EFFECTS: Record<string, Step['effect']> = {
  Creating: 'create',
  Creation: 'create',
  Modifying: 'change',
  Modifications: 'change',
  Destroying: 'destroy',
  Destruction: 'destroy',
  Reading: 'read',
  Read: 'read',
}
const LONGEST_LINE = 4_000
const BEGAN = /^(.+?): (Creating|Modifying|Destroying|Reading)\.\.\./
const STILL = /^(.+?): Still (creating|modifying|destroying|reading)\.\.\. \[(?:.*, )?(\S+) elapsed\]/
const ENDED = /^(.+?): (Creation|Modifications|Destruction|Read) complete after (\S+)/
const CLOSING = /^Apply complete! Resources: /

/** Reads the engine's output of an apply up to the closing line; the outputs after it may contain any text. */
export function readProgress(events: readonly OutputEvent[]): Progress {
  const steps = new Map<string, Step>()
  const errors: string[] = []
  let isComplete = false
  for (const event of events) {
    if (event.type === 'step.ended' && event.step === 'apply') settle(steps, event.exit_code === 0)
    if (event.type !== 'lines' || event.step !== 'apply') continue
    for (const line of event.text.split('\n')) {
      if (event.stream === 'stderr') readError(line, errors, steps)
      else if (!isComplete && CLOSING.test(line)) isComplete = true
      else if (!isComplete) readLine(line.length > LONGEST_LINE ? '' : line, steps)
    }
  }
  return { steps: [...steps.values()], isComplete, errors }
}

function readLine(line: string, steps: Map<string, Step>): void {
  const began = BEGAN.exec(line)
  const still = STILL.exec(line)
  const ended = ENDED.exec(line)
  if (began) note(steps, began[1], EFFECTS[began[2] as string], 'running', '')
  else if (still) note(steps, still[1], EFFECTS[capitalised(still[2] as string)], 'running', still[3] ?? '')
  else if (ended) note(steps, ended[1], EFFECTS[ended[2] as string], 'done', ended[3] ?? '')
}

const capitalised = (word: string) => word.charAt(0).toUpperCase() + word.slice(1)

function note(
  steps: Map<string, Step>,
  address = '',
  effect: Step['effect'] | undefined,
  state: Step['state'],
  took: string,
): void {
  if (effect) steps.set(`${effect} ${address}`, { address, effect, state, took })
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

/** Returns the number of steps of an apply; a replacement counts as two. */
export const countPlanned = (resources: readonly PlannedResource[]): number =>
  resources.reduce((sum, { action }) => {
    if (action === 'replace') return sum + 2
    return sum + (action === 'create' || action === 'update' || action === 'delete' ? 1 : 0)
  }, 0)

/** Returns the progress of an apply, without reads. */
export function countSteps({ steps }: Progress): { done: number; running: number; failed: number } {
  const count = (...states: Step['state'][]) =>
    steps.filter(({ effect, state }) => effect !== 'read' && states.includes(state)).length
  return { done: count('done'), running: count('running'), failed: count('failed', 'stopped') }
}
