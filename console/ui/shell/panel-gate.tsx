import { Link } from '@tanstack/react-router'
import type { ComponentChildren } from 'preact'
import type { User } from '../../client/api/types.ts'
import { hasPanelRole, useMe } from '../../client/use-me.ts'
import { Notice, Skeleton } from '../notice.tsx'
import { Unreadable } from './errors.tsx'

type PanelRole = NonNullable<User['panel_role']>

interface PanelGateProps {
  needs: PanelRole
  /** What the role is needed for, as the end of a sentence: `see the sessions of others`. */
  purpose: string
  children: ComponentChildren
}

/** Shows its content to whoever has the role in the panel, and says to everybody else what is missing. */
export function PanelGate({ needs, purpose, children }: PanelGateProps) {
  const me = useMe()
  if (me.error) return <Unreadable error={me.error} what="user" retry={() => void me.refetch()} />
  if (!me.data) return <Skeleton lines={5} />
  if (hasPanelRole(me.data, needs)) return <>{children}</>
  return (
    <Notice
      tone="warn"
      title={`You need the panel role ${needs} to ${purpose}`}
      actions={
        <Link class="button" to="/sessions">
          Your own sessions
        </Link>
      }
    >
      {me.data.panel_role === null
        ? 'You have no role in the panel.'
        : `Your role in the panel is ${me.data.panel_role}.`}{' '}
      An administrator of the platform can assign it.
    </Notice>
  )
}
