import { createRootRoute, createRoute, createRouter, lazyRouteComponent, Outlet } from '@tanstack/react-router'
import type { ComponentType } from 'preact'
import { pickSearch } from './client/use-address.ts'
import { Broken, NotFound } from './ui/page.tsx'
import { Frame } from './ui/shell/frame.tsx'

const root = createRootRoute({ component: Outlet, notFoundComponent: NotFound, errorComponent: Broken })
const frame = createRoute({ getParentRoute: () => root, id: 'frame', component: Frame })

type Load = () => Promise<{ Screen: unknown }>

/** Returns a screen without a checked type: its type depends on its links, and these depend on the table below. */
const lazyScreen = (load: Load) => lazyRouteComponent(load as () => Promise<{ Screen: ComponentType }>, 'Screen')

/** Creates the route of a screen: its path below `/console`, its module, loaded on first use, and its parameters. */
const screen = <Path extends string, Name extends string = never>(path: Path, load: Load, names: Name[] = []) =>
  createRoute({ getParentRoute: () => frame, path, component: lazyScreen(load), validateSearch: pickSearch(names) })

/** The screens of one session share its header, its tabs and its data. */
const session = createRoute({
  getParentRoute: () => frame,
  path: '/sessions/$sessionId',
  component: lazyScreen(() => import('./screens/session/session.tsx')),
})
const part = <Path extends string, Name extends string = never>(path: Path, load: Load, names: Name[] = []) =>
  createRoute({ getParentRoute: () => session, path, component: lazyScreen(load), validateSearch: pickSearch(names) })

// Outside the table, because a route that is created as an argument loses its type.
const signedIn = createRoute({
  getParentRoute: () => root,
  path: '/signed-in',
  component: lazyScreen(() => import('./screens/signed-in/signed-in.tsx')),
})

const PLAN = ['plan', 'resource', 'finding', 'action', 'search', 'critical', 'findings', 'outside', 'module'] as const

/** The routes of the console. */
const routeTree = root.addChildren([
  frame.addChildren([
    screen('/', () => import('./screens/start/start.tsx')),
    screen('/sessions', () => import('./screens/sessions/sessions.tsx'), [
      ...(['view', 'search', 'status', 'mode', 'operation', 'cloud', 'repo_uri'] as const),
      ...(['locked', 'sort', 'user_email', 'created_after', 'created_before'] as const),
    ]),
    session.addChildren([
      part('/', () => import('./screens/rounds/rounds.tsx'), ['round']),
      part('/review', () => import('./screens/review/review.tsx'), ['round', 'part', 'file', 'line', ...PLAN]),
      part('/graph', () => import('./screens/graph/graph.tsx'), ['round', 'resource', 'action', 'show']),
      part('/seal', () => import('./screens/seal/seal.tsx'), ['round']),
      part('/pull-request', () => import('./screens/pull-request/pull-request.tsx')),
      part('/drift', () => import('./screens/drift/drift.tsx'), ['round']),
      part('/import', () => import('./screens/import/import.tsx'), ['round']),
      part('/replay/$round', () => import('./screens/replay/replay.tsx'), ['at']),
    ]),
    screen('/locked', () => import('./screens/locked/locked.tsx'), ['lock']),
    screen('/admin', () => import('./screens/admin/overview.tsx')),
    screen('/admin/users', () => import('./screens/admin/users.tsx'), ['search', 'page']),
    screen('/admin/audit', () => import('./screens/admin/audit.tsx'), [
      ...(['action', 'user_email', 'session_id', 'after', 'before', 'page'] as const),
    ]),
    screen('/help', () => import('./screens/help/help.tsx'), ['session']),
    screen('/settings', () => import('./screens/settings/settings.tsx')),
  ]),
  signedIn,
])

export const router = createRouter({
  routeTree,
  basepath: '/console',
  defaultPreload: 'intent',
  scrollRestoration: true,
})

// Links and navigation anywhere in the console are checked against this table.
declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}
