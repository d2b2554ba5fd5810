import type { Round, Session } from '../../client/api/types.ts'
import { hasEnded, lastStatus } from '../../client/sessions/use-session.ts'

/** What to do next in a session, and where. */
export interface NextStep {
  tone: 'accent' | 'warn' | 'bad'
  text: string
  /** The part of the session that helps; empty: its rounds. */
  part: string
  label: string
  round?: number
}

/** The one thing that a session waits for. Null while a round runs, because then it waits for nobody. */
export function nextStep(session: Session): NextStep | null {
  const last = session.rounds.at(-1)
  if (session.in_flight || !last || !hasEnded(last)) return null
  const { number } = last
  const status = lastStatus(last)?.status
  if (status === 'failed')
    return { tone: 'bad', text: 'The last round failed.', part: '', label: 'See why', round: number }
  if (session.is_blocked) {
    const shown = session.rounds.findLast(({ reports }) => reports.some(({ type }) => type === 'generate'))
    const text = 'Locked: apply and merge are refused until somebody has looked.'
    return { tone: 'bad', text, part: 'review', label: 'See why', round: shown?.number ?? number }
  }
  if (status === 'uncompleted')
    return { tone: 'warn', text: 'The last round ended early.', part: '', label: 'Read the answer', round: number }
  return afterReport(session, last)
}

function afterReport(session: Session, last: Round): NextStep | null {
  const round = last.number
  const type = last.reports.at(-1)?.type
  if (last.previews.length > 0)
    return { tone: 'accent', text: 'The scope is listed.', part: 'import', label: 'Choose what to import', round }
  if (type === 'apply')
    return { tone: 'accent', text: 'The apply has ended.', part: 'seal', label: 'See what was done' }
  if (type === 'drift')
    return {
      tone: 'accent',
      text: last.preview ? 'What differs is listed.' : 'The drift round has ended.',
      part: 'drift',
      label: 'See what differs',
      round,
    }
  if (type === 'import')
    return { tone: 'accent', text: 'The import has ended.', part: 'import', label: 'See what was imported', round }
  return type === 'generate' ? afterPlan(session, round) : null
}

function afterPlan({ rounds, seal }: Session, round: number): NextStep {
  const request = rounds.flatMap(({ pull_requests }) => pull_requests).at(-1)
  if (request)
    return {
      tone: 'accent',
      text: `Pull request ${request.number} was opened.`,
      part: 'pull-request',
      label: 'See its state',
    }
  const text = seal?.valid ? 'The plan is made and sealed.' : 'The plan is made.'
  return { tone: 'accent', text, part: 'review', label: 'Review the plan', round }
}

/** What the rounds of a session took together; null dollars where a price is not known. */
export function totalsOf({ rounds }: Session): { tokens: number; cost_usd: number | null } {
  const usages = rounds.flatMap(({ usage }) => usage ?? [])
  const sum = (numbers: number[]) => numbers.reduce((total, value) => total + value, 0)
  const costs = usages.map(({ cost_usd }) => cost_usd)
  return {
    tokens: sum(usages.map(({ input_tokens, output_tokens }) => input_tokens + output_tokens)),
    cost_usd: costs.includes(null) ? null : sum(costs.map((cost) => cost ?? 0)),
  }
}
