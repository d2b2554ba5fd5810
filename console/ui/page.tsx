import { Link } from '@tanstack/react-router'
import type { ComponentChildren, JSX } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { ApiError, type User } from '../client/api/client.ts'
import { hasPanelRole, useMe } from '../client/platform.ts'
import { Button, ErrorNotice, Notice, Skeleton } from './kit.tsx'

interface PageProps {
  title: string
  /** The line above the title, for example the parent of the page. */
  kicker?: ComponentChildren
  /** The text below the title. */
  lead?: ComponentChildren
  actions?: ComponentChildren
  wide?: boolean
  children: ComponentChildren
}

/** Shows the frame of a screen. Its heading gets the focus after navigation, so that screen readers announce it. */
export function Page({ title, kicker, lead, actions, wide, children }: PageProps) {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    document.title = `${title} · Platform`
  }, [title])
  useEffect(() => {
    if (document.activeElement === document.body || document.activeElement?.closest('nav')) heading.current?.focus()
  }, [])
  return (
    <div class={wide ? 'page page-wide' : 'page'}>
      <header class="page-head">
        <div class="page-heading">
          {kicker && <div class="page-kicker">{kicker}</div>}
          <h1 ref={heading} tabIndex={-1}>
            {title}
          </h1>
          {lead && <div class="page-lead">{lead}</div>}
        </div>
        {actions && <div class="page-actions">{actions}</div>}
      </header>
      {children}
    </div>
  )
}

/** Shows the notice of an unknown address. */
export const NotFound = (): JSX.Element => (
  <Page title="Page not found">
    <Notice actions={<Link to="/sessions">All sessions</Link>}>The address may be incomplete, or out of date.</Notice>
  </Page>
)

/** Shows the notice of a part that could not be loaded, or failed. Drafts survive a reload. */
export function Broken({ error }: { error: unknown }): JSX.Element {
  const isPart = error instanceof TypeError && /import|module/i.test(error.message)
  return (
    <Page title={isPart ? 'A part of the console could not be loaded' : 'This screen failed'}>
      <Notice
        tone="bad"
        title={isPart ? 'The connection broke, or a new version was installed.' : 'This is a fault of the console.'}
        actions={
          <Button kind="primary" onClick={() => location.reload()}>
            Load the page again
          </Button>
        }
      >
        {' '}
        Your input is kept.{' '}
      </Notice>
    </Page>
  )
}

/** Shows the notice of a screen whose data cannot be read. */
export function Unreadable({ error, what, retry }: { error: unknown; what: string; retry: () => void }) {
  if (error instanceof ApiError && error.status === 404)
    return <Notice title={`This ${what} does not exist`}>It does not exist, or the address is incomplete.</Notice>
  if (error instanceof ApiError && error.status === 403)
    return (
      <Notice tone="warn" title={`You have no access to this ${what}`}>
        It belongs to somebody else. Contact its owner or an administrator of the platform.
      </Notice>
    )
  return <ErrorNotice error={error} title={`The ${what} could not be read`} retry={retry} />
}

interface QueryContentProps<Data> {
  query: { data: Data | undefined; error: unknown; refetch: () => unknown }
  what: string
  /** The number of lines that are reserved while it loads. */
  lines: number
  /** The title of the notice above data that could not be read again. */
  stale?: string
  children: (data: Data) => ComponentChildren
}

/** Shows the data of a query, the notice of its failure, or its space while it loads. */
export function QueryContent<Data>({ query, what, lines, stale, children }: QueryContentProps<Data>) {
  const { data, error } = query
  const retry = () => void query.refetch()
  if (!data) return error ? <Unreadable error={error} what={what} retry={retry} /> : <Skeleton lines={lines} />
  return (
    <>
      {error && stale ? <ErrorNotice error={error} title={stale} retry={retry} /> : null}
      {children(data)}
    </>
  )
}

interface PanelGateProps {
  needs: NonNullable<User['panel_role']>
  /** The purpose of the role, as the end of a sentence: `see the sessions of others`. */
  purpose: string
  children: ComponentChildren
}

/** Shows its content to users with the role in the panel, and the missing role to others. */
export const PanelGate = ({ needs, purpose, children }: PanelGateProps) => (
  <QueryContent query={useMe()} what="user" lines={5}>
    {(user) =>
      hasPanelRole(user, needs) ? (
        children
      ) : (
        <Notice
          tone="warn"
          title={`You need the panel role ${needs} to ${purpose}`}
          actions={
            <Link class="button" to="/sessions">
              Your own sessions
            </Link>
          }
        >
          {user.panel_role === null
            ? 'You have no role in the panel.'
            : `Your role in the panel is ${user.panel_role}.`}{' '}
          An administrator of the platform can assign it.
        </Notice>
      )
    }
  </QueryContent>
)
