import { Link } from '@tanstack/react-router'
import type { ComponentChildren, JSX } from 'preact'
import { ApiError } from '../../client/api/errors.ts'
import type { User } from '../../client/api/schemas.ts'
import { hasPanelRole, useMe } from '../../client/use-me.ts'
import { Button } from '../button.tsx'
import { ErrorNotice, Notice, Skeleton } from '../notice.tsx'
import { Page } from '../page.tsx'

/** No screen has this address. */
export const NotFound = (): JSX.Element => (
  <Page title="There is no such page">
    <Notice actions={<Link to="/sessions">All sessions</Link>}>The address may be incomplete, or out of date.</Notice>
  </Page>
)

/** A part of the console could not be loaded, or has a mistake. What was typed is kept through a reload. */
export function Broken({ error }: { error: unknown }): JSX.Element {
  const isPart = error instanceof TypeError && /import|module/i.test(error.message)
  return (
    <Page title={isPart ? 'A part of the console could not be loaded' : 'This screen has a fault'}>
      <Notice
        tone="bad"
        title={isPart ? 'The connection broke, or a new version was installed.' : 'It is ours, not yours.'}
        actions={
          <Button kind="primary" onClick={() => location.reload()}>
            Load the page again
          </Button>
        }
      >
        What you typed is kept.
      </Notice>
    </Page>
  )
}

/** What a screen shows when what it is about cannot be read. */
export function Unreadable({ error, what, retry }: { error: unknown; what: string; retry: () => void }) {
  if (error instanceof ApiError && error.status === 404)
    return <Notice title={`There is no such ${what}`}>It was never made, or the address is incomplete.</Notice>
  if (error instanceof ApiError && error.status === 403)
    return (
      <Notice tone="warn" title={`You may not see this ${what}`}>
        It belongs to somebody else. Its owner, or an administrator of the platform, can help.
      </Notice>
    )
  return <ErrorNotice error={error} title={`The ${what} could not be read`} retry={retry} />
}

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
