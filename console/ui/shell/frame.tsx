import { Link, Outlet, useNavigate, useRouterState } from '@tanstack/react-router'
import type { ComponentChildren, JSX } from 'preact'
import { useEffect, useId, useRef, useState } from 'preact/hooks'
import { hasPanelRole, useMe, usePlatform, useStore } from '../../client/platform.ts'
import { Button, Elapsed } from '../kit.tsx'

interface Entry {
  to: string
  name: string
  /** True for entries that need a role in the panel. */
  panel?: true
}

const ENTRIES: readonly Entry[] = [
  { to: '/', name: 'New request' },
  { to: '/sessions', name: 'Sessions' },
  { to: '/settings', name: 'Settings' },
  { to: '/help', name: 'Help' },
  // Last, because they appear once the user is known and then move nothing.
  { to: '/locked', name: 'Locked', panel: true },
  { to: '/admin', name: 'Administration', panel: true },
]

/** Shows the frame of every screen: navigation, the signed-in user, and the state of the connection. */
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

/** Shows banners above every screen: a lost connection, and an expired sign-in. Input is kept. */
function Banners() {
  const { api, signIn } = usePlatform()
  const connection = useStore(api.connection)
  const state = useStore(signIn.state)
  const problem = useStore(signIn.problem)
  return (
    <div class="banners" aria-live="polite">
      {!connection.online && (
        <p class="banner banner-bad">
          No connection to the platform for <Elapsed since={new Date(connection.since).toISOString()} until={null} />.
          Reconnecting automatically; running rounds continue.
        </p>
      )}
      {state === 'ended' && (
        <p class="banner banner-warn">
          Your sign-in has expired. Your input is kept. {problem}
          <Button small onClick={() => void signIn.start()}>
            Sign in again
          </Button>
        </p>
      )}
    </div>
  )
}

const SESSION_ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** Shows the command palette, opened by Ctrl+K or Command+K. */
function Palette({ entries }: { entries: readonly Entry[] }) {
  const dialog = useRef<HTMLDialogElement>(null)
  const [text, setText] = useState('')
  const [chosen, setChosen] = useState(0)
  const navigate = useNavigate()
  const list = useId().replaceAll(':', '')
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey)) return
      event.preventDefault()
      setText('')
      setChosen(0)
      dialog.current?.showModal()
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [])
  const found = findTargets(text, entries)
  const go = (index: number) => {
    const target = found[index]
    if (!target) return
    dialog.current?.close()
    void navigate({ to: target.to })
  }
  return (
    <dialog ref={dialog} class="palette" aria-label="Go to">
      <input
        type="text"
        role="combobox"
        aria-expanded="true"
        aria-controls={list}
        aria-activedescendant={found.length > 0 ? `${list}-${chosen}` : undefined}
        aria-label="Screen, words of a request, or a session id"
        placeholder="Go to a screen, search requests, or paste a session id"
        value={text}
        onInput={({ currentTarget }) => {
          setText(currentTarget.value)
          setChosen(0)
        }}
        onKeyDown={(event) => {
          const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
          if (step !== undefined) {
            event.preventDefault()
            setChosen((before) => Math.min(Math.max(0, before + step), found.length - 1))
          } else if (event.key === 'Enter') go(chosen)
        }}
      />
      <div id={list} role="listbox" aria-label="Targets" class="palette-list">
        {found.map(({ to, name }, index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the keys of the list are those of its input
          <div
            key={to}
            id={`${list}-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={index === chosen}
            onClick={() => go(index)}
          >
            {name}
          </div>
        ))}
      </div>
    </dialog>
  )
}

function findTargets(text: string, entries: readonly Entry[]): readonly Entry[] {
  const words = text.trim().toLowerCase()
  const screens = entries.filter(({ name }) => name.toLowerCase().includes(words))
  if (words === '') return screens
  if (SESSION_ID.test(words)) return [{ to: `/sessions/${words}`, name: `Session ${words}` }, ...screens]
  return [
    ...screens,
    { to: `/sessions?search=${encodeURIComponent(text.trim())}`, name: `Sessions with “${text.trim()}”` },
  ]
}

interface GateProps {
  title: string
  /** The label of the button. */
  action: string
  run: () => void
  children: ComponentChildren
}

/** Shows a page in front of the console, with one button. */
export const Gate = ({ title, action, run, children }: GateProps) => (
  <main class="gate">
    <h1>{title}</h1>
    {children}
    <Button kind="primary" onClick={run}>
      {action}
    </Button>
  </main>
)

/** Shows the console to signed-in users, and the sign-in to others. */
export function SignInGate({ children }: { children: ComponentChildren }) {
  const { signIn } = usePlatform()
  const state = useStore(signIn.state)
  const problem = useStore(signIn.problem)
  if (state !== 'out' || location.pathname.endsWith('/signed-in')) return <>{children}</>
  return (
    <Gate title="Platform" action="Sign in" run={signIn.start}>
      <p>Describe a change of your infrastructure in a sentence. Review the plan before anything changes.</p>
      <p role="alert">{problem}</p>
    </Gate>
  )
}

/** Shows that the platform did not answer when the page was opened. */
export function Unavailable() {
  useEffect(() => {
    const look = () =>
      fetch('/console/config.json').then(
        ({ ok }) => ok && location.reload(),
        () => {},
      )
    const timer = setInterval(look, 5_000)
    return () => clearInterval(timer)
  }, [])
  return (
    <Gate title="The platform does not answer" action="Try now" run={() => location.reload()}>
      <p role="status">It may be starting. This page retries every five seconds.</p>
    </Gate>
  )
}
