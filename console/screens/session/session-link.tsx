import { Link } from '@tanstack/react-router'
import type { ComponentChildren } from 'preact'
import type { SearchOf } from '../../client/use-address.ts'
import { Notice } from '../../ui/notice.tsx'
import { visibleText } from '../../ui/words.ts'
import type { Refusal } from '../seal/apply-readiness.ts'
import type { SessionPart } from './next-step.ts'

interface SessionLinkProps {
  id: string
  /** The screen of the session; its rounds by default. */
  part?: SessionPart
  search?: SearchOf<'round' | 'part' | 'resource'>
  class?: string
  children: ComponentChildren
}

/** Links to a screen of a session. */
export const SessionLink = ({ id, part = 'rounds', search = {}, ...rest }: SessionLinkProps) => (
  <Link
    {...rest}
    to={part === 'rounds' ? '/sessions/$sessionId' : (`/sessions/$sessionId/${part}` as const)}
    params={{ sessionId: id }}
    search={search}
    activeOptions={{ exact: true, includeSearch: false }}
    activeProps={{}}
  />
)

interface RefusedProps {
  refusal: Refusal
  sessionId: string
  title: string
  tone?: 'neutral' | 'warn'
}

/** Shows the reason why apply or merge is not possible now, with a link to the remedy. */
export const Refused = ({ refusal: { reason, advice, remedy }, sessionId, title, tone = 'warn' }: RefusedProps) => (
  <Notice
    tone={tone}
    title={title}
    actions={
      remedy === 'rounds' ? (
        <SessionLink class="button" id={sessionId}>
          Go to the rounds
        </SessionLink>
      ) : remedy === 'locked' ? (
        <Link class="button" to="/locked">
          Locked sessions
        </Link>
      ) : (
        remedy === 'start' && (
          <Link class="button" to="/">
            New request
          </Link>
        )
      )
    }
  >
    <p>{visibleText(reason)}</p>
    <p>{advice}</p>
  </Notice>
)
