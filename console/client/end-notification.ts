import { useQueryClient } from '@tanstack/preact-query'
import { useEffect, useRef } from 'preact/hooks'
import type { Session, Status } from './api/client.ts'
import { usePlatform, useStore } from './platform.ts'
import { refreshSession } from './sessions/use-session.ts'

/** A hidden page follows no stream, so it polls; browsers allow that at least once a minute. */
const ASK_EVERY_MS = 10_000

/** Shows a browser notification when the round of the open session ends while the page is hidden. */
export function useEndNotification(session: Session | undefined): void {
  const client = useQueryClient()
  const { notify } = useStore(usePlatform().settings)
  const ran = useRef<string | null>(null)
  const id = session?.uuid
  const inFlight = session?.in_flight ?? false
  useEffect(() => {
    if (!notify || !inFlight || !id) return
    const timer = setInterval(() => document.hidden && mayNotify() && void refreshSession(client, id), ASK_EVERY_MS)
    return () => clearInterval(timer)
  }, [client, notify, inFlight, id])
  useEffect(() => {
    if (!session) return
    const ended = ran.current === session.uuid && !session.in_flight
    ran.current = session.in_flight ? session.uuid : null
    if (ended && notify && document.hidden && mayNotify()) show(session)
  }, [session, notify])
}

function show(session: Session): void {
  const { title, body } = endText(session)
  try {
    const shown = new Notification(title, { body, tag: session.uuid })
    shown.onclick = () => {
      window.focus()
      shown.close()
    }
  } catch {
    // Mobile browsers have the class, but its constructor throws without a service worker.
  }
}

/** The permission for notifications; `unsupported` also when the page was not loaded over https. */
export type Permission = 'granted' | 'denied' | 'default' | 'unsupported'

export const readPermission = (): Permission =>
  'Notification' in window && window.isSecureContext ? Notification.permission : 'unsupported'

const mayNotify = (): boolean => readPermission() === 'granted'

const ENDS: Partial<Record<Status, string>> = {
  completed: 'Round completed',
  uncompleted: 'Round ended early',
  failed: 'Round failed',
}
const LONGEST = 160

/** Returns the text of a notification, without content of the plan because others may see the screen. */
export function endText({ current_status, rounds, first_query, is_blocked }: Session) {
  const query = rounds.at(-1)?.query ?? first_query ?? ''
  const title = `${ENDS[current_status] ?? 'Round ended'}${is_blocked ? ', session locked' : ''}`
  return {
    title,
    body:
      query.length <= LONGEST
        ? query
        : `${query
            .slice(0, LONGEST - 1)
            .toWellFormed()
            .replace(/\s+\S{0,40}$/, '')}…`,
  }
}
