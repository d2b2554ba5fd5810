import { createRootRoute, createRoute, lazyRouteComponent, Outlet } from '@tanstack/react-router'
import { Broken, NotFound } from './ui/shell/errors.tsx'
import { Frame } from './ui/shell/frame.tsx'

const root = createRootRoute({ component: Outlet, notFoundComponent: NotFound, errorComponent: Broken as never })
const frame = createRoute({ getParentRoute: () => root, id: 'frame', component: Frame as never })

/** One screen: its address below `/console`, and the module that draws it, which is loaded when it is first seen. */
const screen = <Path extends string>(path: Path, load: () => Promise<{ Screen: unknown }>) =>
  createRoute({
    getParentRoute: () => frame,
    path,
    component: lazyRouteComponent(load as never, 'Screen') as never,
    // The address is the state of a screen: each reads and checks the keys that it knows.
    validateSearch: (search: Record<string, unknown>): Record<string, unknown> => search,
  })

/** Inside of a session: these share its header, its tabs and what was read of it. */
const session = createRoute({
  getParentRoute: () => frame,
  path: '/sessions/$sessionId',
  component: lazyRouteComponent(() => import('./screens/session/session.tsx') as never, 'Screen') as never,
})
const part = <Path extends string>(path: Path, load: () => Promise<{ Screen: unknown }>) =>
  createRoute({
    getParentRoute: () => session,
    path,
    component: lazyRouteComponent(load as never, 'Screen') as never,
    validateSearch: (search: Record<string, unknown>): Record<string, unknown> => search,
  })

/** The table of contents of the console. */
export const routeTree = root.addChildren([
  frame.addChildren([
    screen('/', () => import('./screens/start/start.tsx')),
    screen('/sessions', () => import('./screens/sessions/sessions.tsx')),
    session.addChildren([
      part('/', () => import('./screens/rounds/rounds.tsx')),
      part('/review', () => import('./screens/review/review.tsx')),
      part('/graph', () => import('./screens/graph/graph.tsx')),
      part('/seal', () => import('./screens/seal/seal.tsx')),
      part('/pull-request', () => import('./screens/pull-request/pull-request.tsx')),
      part('/drift', () => import('./screens/drift/drift.tsx')),
      part('/import', () => import('./screens/import/import.tsx')),
      part('/replay/$round', () => import('./screens/replay/replay.tsx')),
    ]),
    screen('/locked', () => import('./screens/locked/locked.tsx')),
    screen('/admin', () => import('./screens/admin/overview.tsx')),
    screen('/admin/users', () => import('./screens/admin/users.tsx')),
    screen('/admin/audit', () => import('./screens/admin/audit.tsx')),
    screen('/help', () => import('./screens/help/help.tsx')),
    screen('/settings', () => import('./screens/settings/settings.tsx')),
  ]),
  createRoute({
    getParentRoute: () => root,
    path: '/signed-in',
    component: lazyRouteComponent(() => import('./screens/signed-in/signed-in.tsx') as never, 'Screen') as never,
  }),
])
