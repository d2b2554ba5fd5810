import type { Session } from '../../client/api/client.ts'
import { hasEnded, lastStatus } from '../../client/sessions/use-session.ts'

export type SessionPart = 'rounds' | 'review' | 'graph' | 'seal' | 'pull-request' | 'drift' | 'import'

/** Returns the one step that a session waits for, with the screen for it; null while a round runs. */
export function nextStep(session: Session) {
  const last = session.rounds.at(-1)
  if (session.in_flight || !last || !hasEnded(last)) return null
  type Tone = 'accent' | 'warn' | 'bad'
  const step = (tone: Tone, part: SessionPart, text: string, label: string, round = last.number) => ({
    ...{ tone, part, text, label, round },
  })
  const next = (part: SessionPart, text: string, label: string) => step('accent', part, text, label)
  const status = lastStatus(last)?.status
  if (status === 'failed') return step('bad', 'rounds', 'The last round failed.', 'See why')
  if (session.is_blocked) {
    const shown = session.rounds.findLast(({ reports }) => reports.some(({ type }) => type === 'generate'))
    const text = 'Locked: apply and merge are refused until somebody has reviewed the session.'
    return step('bad', 'review', text, 'See why', shown?.number)
  }
  if (status === 'uncompleted') return step('warn', 'rounds', 'The last round ended early.', 'Read the answer')
  const type = last.reports.at(-1)?.type
  if (last.previews.length > 0) return next('import', 'The inventory of the scope is ready.', 'Select what to import')
  if (type === 'apply') return next('seal', 'The apply has ended.', 'See the result')
  if (type === 'drift')
    return next('drift', last.preview ? 'The drift report is ready.' : 'The drift round has ended.', 'See the drift')
  if (type === 'import') return next('import', 'The import has ended.', 'See the result')
  if (type !== 'generate') return null
  const request = session.rounds.flatMap(({ pull_requests }) => pull_requests).at(-1)
  if (request) return next('pull-request', `Pull request ${request.number} was opened.`, 'See its state')
  return next('review', session.seal?.valid ? 'The plan is made and saved.' : 'The plan is made.', 'Review the plan')
}
