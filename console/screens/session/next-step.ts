import type { Round, Session } from '../../client/api/schemas.ts'
import { hasEnded, lastStatus } from '../../client/sessions/use-session.ts'

export type SessionPart = 'rounds' | 'review' | 'graph' | 'seal' | 'pull-request' | 'drift' | 'import'

/** The next step in a session, and the screen for it. */
interface NextStep {
  tone: 'accent' | 'warn' | 'bad'
  text: string
  part: SessionPart
  label: string
  round?: number
}

/** Returns the one step that a session waits for; null while a round runs. */
export function nextStep(session: Session): NextStep | null {
  const last = session.rounds.at(-1)
  if (session.in_flight || !last || !hasEnded(last)) return null
  const { number } = last
  const status = lastStatus(last)?.status
  if (status === 'failed')
    return { tone: 'bad', text: 'The last round failed.', part: 'rounds', label: 'See why', round: number }
  if (session.is_blocked) {
    const shown = session.rounds.findLast(({ reports }) => reports.some(({ type }) => type === 'generate'))
    const text = 'Locked: apply and merge are refused until somebody has reviewed the session.'
    return { tone: 'bad', text, part: 'review', label: 'See why', round: shown?.number ?? number }
  }
  if (status === 'uncompleted')
    return {
      tone: 'warn',
      text: 'The last round ended early.',
      part: 'rounds',
      label: 'Read the answer',
      round: number,
    }
  return afterReport(session, last)
}

function afterReport(session: Session, last: Round): NextStep | null {
  const step = (part: SessionPart, text: string, label: string): NextStep => ({
    tone: 'accent',
    text,
    part,
    label,
    round: last.number,
  })
  const type = last.reports.at(-1)?.type
  if (last.previews.length > 0) return step('import', 'The inventory of the scope is ready.', 'Select what to import')
  if (type === 'apply') return step('seal', 'The apply has ended.', 'See the result')
  if (type === 'drift')
    return step('drift', last.preview ? 'The drift report is ready.' : 'The drift round has ended.', 'See the drift')
  if (type === 'import') return step('import', 'The import has ended.', 'See the result')
  if (type !== 'generate') return null
  const request = session.rounds.flatMap(({ pull_requests }) => pull_requests).at(-1)
  if (request) return step('pull-request', `Pull request ${request.number} was opened.`, 'See its state')
  return step('review', session.seal?.valid ? 'The plan is made and saved.' : 'The plan is made.', 'Review the plan')
}
