import { Link } from '@tanstack/react-router'
import type { ComponentChildren } from 'preact'
import type { SearchOf } from '../../client/use-address.ts'
import type { SessionPart } from './next-step.ts'

interface SessionLinkProps {
  id: string
  /** The screen of the session; its rounds by default. */
  part?: SessionPart
  search?: SearchOf<'round' | 'part' | 'resource'>
  class?: string
  children: ComponentChildren
}

/** A link to a screen of a session. */
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
