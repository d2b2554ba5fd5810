import { setTimeout as sleep } from 'node:timers/promises'
import type { Api, Session } from './api.ts'

const TERMINAL = new Set(['completed', 'uncompleted', 'failed'])

/**
 * Follows the round until its terminal status. Every event is a reason to look: the session's own list
 * of statuses is complete, also where two changes came as one event.
 * @param known how many statuses of earlier rounds were told already
 * @returns the session as it is after the end
 */
export async function follow(
  api: Api,
  sessionId: string,
  told: (status: string, message: string) => void,
  known = 0,
): Promise<Session> {
  let shown = known
  const look = async (): Promise<Session> => {
    const session = await api.session(sessionId)
    const statuses = session.rounds.flatMap((round) => round.statuses)
    for (const { status, message } of statuses.slice(shown)) told(status, message ?? '')
    shown = statuses.length
    return session
  }
  const ended = (session: Session) => !session.in_flight && TERMINAL.has(session.current_status)
  for (;;) {
    let last = ''
    for await (const status of api.events(sessionId)) {
      // The stream repeats itself; only a change is worth a look.
      if (status !== last) await look()
      last = status
    }
    const session = await look()
    if (ended(session)) return session
    await sleep(500)
  }
}
