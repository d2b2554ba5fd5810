import { Link, Outlet, useRouterState } from '@tanstack/react-router'
import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { usePlatform, useStore } from '../../client/platform.ts'
import { hasPanelRole, useMe } from '../../client/use-me.ts'
import { Button } from '../button.tsx'
import { Elapsed } from '../time.tsx'
import { Palette } from './palette.tsx'

interface Entry {
  to: string
  name: string
  /** Whether only people with a role in the panel have it. */
  panel?: true
}

const ENTRIES: readonly Entry[] = [
  { to: '/', name: 'New request' },
  { to: '/sessions', name: 'Sessions' },
  { to: '/settings', name: 'Settings' },
  { to: '/help', name: 'Help' },
  // These come when it is known who is signed in; behind the others they move nothing.
  { to: '/locked', name: 'Locked', panel: true },
  { to: '/admin', name: 'Administration', panel: true },
]

/** What stands around every screen: navigation, who is signed in, and what is wrong with the connection. */
export function Frame(): JSX.Element {
  const me = useMe()
  const [open, setOpen] = useState(false)
  const path = useRouterState({ select: ({ location }) => location.pathname })
  useEffect(() => setOpen(false), [path])
  const entries = ENTRIES.filter(({ panel }) => !panel || hasPanelRole(me.data, 'viewer'))
  return (
    <div class="frame">
      <a class="skip" href="#content">
        Skip to the content
      </a>
      <header class="bar">
        <Link to="/" class="brand" activeProps={{}}>
          <Mark />
          Platform
        </Link>
        <Button
          class="bar-menu"
          kind="quiet"
          aria-expanded={open}
          aria-controls="navigation"
          onClick={() => setOpen((before) => !before)}
        >
          Menu
        </Button>
        <nav id="navigation" class={open ? 'bar-nav bar-nav-open' : 'bar-nav'} aria-label="Main">
          {entries.map(({ to, name }) => (
            <Link
              key={to}
              to={to}
              class="bar-link"
              activeOptions={{ exact: to === '/' }}
              activeProps={{ 'aria-current': 'page' }}
            >
              {name}
            </Link>
          ))}
        </nav>
        <Who />
      </header>
      <Banners />
      <main id="content" class="content" tabIndex={-1}>
        <Outlet />
      </main>
      <Palette entries={entries} />
    </div>
  )
}

function Who() {
  const { signIn } = usePlatform()
  const state = useStore(signIn.state)
  const me = useMe()
  if (!me.data) return <span class="bar-who" />
  const name = me.data.display_name || me.data.email || 'Signed in'
  return (
    <span class="bar-who">
      <span class="bar-name" title={me.data.email ?? undefined}>
        {name}
      </span>
      {state === 'in' && (
        <Button kind="quiet" small onClick={() => void signIn.end()}>
          Sign out
        </Button>
      )}
    </span>
  )
}

const Mark = () => (
  <svg class="brand-mark" viewBox="0 0 16 16" width="18" height="18" aria-hidden="true">
    <path d="M8 1 15 4.6 8 8.2 1 4.6Z" fill="currentColor" />
    <path d="m1 8 7 3.6L15 8M1 11.4 8 15l7-3.6" fill="none" stroke="currentColor" stroke-width="1.4" />
  </svg>
)

/** What concerns every screen: no connection, and a sign-in that ended. What was typed stays where it is. */
function Banners() {
  const { api, signIn } = usePlatform()
  const connection = useStore(api.connection.state)
  const state = useStore(signIn.state)
  const problem = useStore(signIn.problem)
  return (
    <div class="banners" aria-live="polite">
      {!connection.online && (
        <p class="banner banner-bad">
          No connection to the platform for <Elapsed since={new Date(connection.since).toISOString()} until={null} />.
          It is tried again by itself; nothing that runs is lost.
        </p>
      )}
      {state === 'ended' && (
        <p class="banner banner-warn">
          Your sign-in has ended. What you typed is kept. {problem}
          <Button small onClick={() => void signIn.start()}>
            Sign in again
          </Button>
        </p>
      )}
    </div>
  )
}
