import { setTimeout as sleep } from 'node:timers/promises'
import type { Api, Session } from '../api.ts'

const TERMINAL = new Set(['completed', 'uncompleted', 'failed'])

/**
 * Follows a round until its terminal status. Each event makes the session be read again, because it lists all statuses,
 * while one event may stand for two changes.
 * @param known number of statuses of earlier rounds
 * @returns the session after the end
 */
export async function follow(
  api: Api,
  sessionId: string,
  onStatus: (status: string, message: string) => void,
  known = 0,
): Promise<Session> {
  let shownCount = known
  const look = async (): Promise<Session> => {
    const session = await api.session(sessionId)
    const statuses = session.rounds.flatMap((round) => round.statuses)
    for (const { status, message } of statuses.slice(shownCount)) onStatus(status, message ?? '')
    shownCount = statuses.length
    return session
  }
  const ended = (session: Session) => !session.in_flight && TERMINAL.has(session.current_status)
  for (;;) {
    let last = ''
    for await (const status of api.events(sessionId)) {
      // The stream repeats the status at intervals. The session is read again only after a change.
      if (status !== last) await look()
      last = status
    }
    const session = await look()
    if (ended(session)) return session
    await sleep(500)
  }
}
