import type { Round, Session } from '../../client/api/client.ts'
import { hasEnded } from '../../client/sessions/use-session.ts'

export type Mode = 'generate' | 'drift' | 'import' | 'apply'

/** Returns the mode of a round, derived from its contents. Null while it is unknown. */
export function modeOf(round: Round, session: Session): Mode | null {
  const reported = round.reports.at(-1)?.type
  if (reported) return reported
  if (round.statuses.some(({ status }) => status === 'apply')) return 'apply'
  if (round.state_question) return round.state_question.mode
  if (round.number === 1) return session.operation
  const tasks = round.attempts.map(({ task }) => task)
  return tasks.find((task) => task !== 'drift') ?? tasks[0] ?? null
}

/**
 * Returns the platform's answers by round number. The conversation has no entry for previews, and that of an import
 * round may have other words than the request.
 */
export function answersOf(session: Session): Map<number, string> {
  const answers = new Map<number, string>()
  const turns = session.history ?? []
  const rounds = session.rounds.filter((round) => !round.preview && hasEnded(round))
  let next = 0
  for (const [index, round] of rounds.entries()) {
    const turn = turns[next]
    if (!turn) break
    const isLater = rounds.slice(index + 1).some(({ query }) => query === turn.user)
    const isImport = !isLater && modeOf(round, session) === 'import'
    if (turn.user !== round.query && !isImport) continue
    answers.set(round.number, turn.assistant)
    next += 1
  }
  return answers
}
