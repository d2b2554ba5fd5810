import { Link } from '@tanstack/react-router'
import type { ComponentChildren } from 'preact'
import { useContext } from 'preact/hooks'
import type { SearchOf } from '../../client/use-address.ts'
import { Notice } from '../../ui/notice.tsx'
import { visibleText } from '../../ui/words.ts'
import type { Refusal } from '../seal/apply-readiness.ts'
import type { SessionPart } from './next-step.ts'
import { SessionContext } from './open-session.tsx'

interface SessionLinkProps {
  /** The session; the open one by default. */
  id?: string
  /** The screen of the session; its rounds by default. */
  part?: SessionPart
  search?: SearchOf<'round' | 'part' | 'resource'>
  class?: string
  children: ComponentChildren
}

/** Links to a screen of a session. */
export function SessionLink({ id, part = 'rounds', search = {}, ...rest }: SessionLinkProps) {
  const open = useContext(SessionContext)
  return (
    <Link
      {...rest}
      to={part === 'rounds' ? '/sessions/$sessionId' : (`/sessions/$sessionId/${part}` as const)}
      params={{ sessionId: id ?? open?.session.uuid ?? '' }}
      search={search}
      activeOptions={{ exact: true, includeSearch: false }}
      activeProps={{}}
    />
  )
}

interface RefusedProps {
  refusal: Refusal
  title: string
  tone?: 'neutral' | 'warn'
}

/** Shows the reason why apply or merge is not possible now, with a link to the remedy. */
export const Refused = ({ refusal: { reason, advice, remedy }, title, tone = 'warn' }: RefusedProps) => (
  <Notice
    tone={tone}
    title={title}
    actions={
      remedy === 'rounds' ? (
        <SessionLink class="button">Go to the rounds</SessionLink>
      ) : (
        remedy && (
          <Link class="button" to={remedy === 'locked' ? '/locked' : '/'}>
            {remedy === 'locked' ? 'Locked sessions' : 'New request'}
          </Link>
        )
      )
    }
  >
    <p>{visibleText(reason)}</p>
    <p>{advice}</p>
  </Notice>
)
