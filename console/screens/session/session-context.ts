import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import type { ReadSession } from '../../client/sessions/use-session.ts'
import type { LiveStatus } from '../../client/sessions/use-streams.ts'

/** The session of the screens below. */
interface OpenSession extends ReadSession {
  live: LiveStatus | null
}

const SessionContext = createContext<OpenSession | null>(null)
export const SessionProvider = SessionContext.Provider

export function useOpenSession(): OpenSession {
  const open = useContext(SessionContext)
  if (!open) throw new Error('no session above this component')
  return open
}
