import type { Page, Route } from '@playwright/test'
import type {
  PlanDocument,
  PlannedResource,
  Session,
  SessionSummary,
  User,
} from '../../../console/client/api/client.ts'

type Answer = NonNullable<Parameters<Route['fulfill']>[0]>

const ME: User = { id: 1, email: 'ada@example.org', display_name: 'Ada', operation_role: 'developer', panel_role: null }

export const answer = (route: Route, json: unknown, status = 200) => route.fulfill({ status, json })

/** Makes the page believe that the user has this panel role. */
export const signInAs = (page: Page, panel_role: User['panel_role']) =>
  page.route('**/api/v1/users/me', (route) => answer(route, { ...ME, panel_role }))

/** Makes a session in the form of a list. `index` distinguishes it. */
export const listed = (index: number, changes: Partial<SessionSummary> = {}): SessionSummary => ({
  uuid: `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`,
  username: 'ada@example.org',
  operation: 'generate',
  provider: 'aws',
  first_query: `Request number ${index}`,
  workspace: { uri: 'https://github.com/acme/infrastructure.git', branch: 'Platform/1', root_path: 'live/network' },
  current_status: 'completed',
  in_flight: false,
  is_blocked: false,
  lock: null,
  created_at: new Date(Date.UTC(2026, 0, 31) - index * 60_000).toISOString().replace('Z', '000Z'),
  updated_at: '2026-02-01T00:00:00.000000Z',
  cost_usd: index / 1_000,
  ...changes,
})

/** Answers pages of a list of that many sessions, as the API does. */
export const answerPage = (route: Route, total: number, make = listed) => {
  const query = new URL(route.request().url()).searchParams
  const page = Number(query.get('page') ?? 1)
  const page_size = Number(query.get('page_size') ?? 20)
  const first = (page - 1) * page_size
  const items = Array.from({ length: Math.max(0, Math.min(page_size, total - first)) }, (_, at) => make(first + at))
  return answer(route, { items, total, page, page_size, total_pages: Math.ceil(total / page_size) })
}

/** Changes the session in answers of the API to its owner. */
export const changeSession = (page: Page, change: (session: Session) => Partial<Session>) =>
  page.route('**/api/v1/sessions?*', async (route) => {
    const response = await route.fetch()
    const session: Session = await response.json()
    await route.fulfill({ response, json: { ...session, ...change(session) } })
  })

/** Makes the API refuse the session as one of somebody else, so that it is read through the panel. */
export const refuseSession = (page: Page) =>
  page.route('**/api/v1/sessions?*', (route) => answer(route, { detail: 'Not yours.' }, 403))

/** Makes the store answer otherwise for an artifact, which a link or a pattern names. */
export const serveArtifact = (page: Page, link: string | RegExp, { headers, ...rest }: Answer) =>
  page.route(typeof link === 'string' ? `${link.replace(/\?.*$/, '')}*` : link, (route) =>
    route.fulfill({
      headers: { 'access-control-allow-origin': '*', 'access-control-expose-headers': '*', ...headers },
      ...rest,
    }),
  )

/** Returns an event stream. An event has a number, a round and a time of its own, or gets them. */
export const streamOf = (events: object[], end = ''): Answer => ({
  contentType: 'text/event-stream',
  body: events
    .map((event, index) => ({ id: index + 1, round: 1, at: '2026-01-01T00:00:00Z', ...event }))
    .map((event) => `id: ${event.id}\ndata: ${JSON.stringify(event)}\n\n`)
    .concat(end)
    .join(''),
})
/** The last frame of a stream. */
export const END = 'event: end\ndata: {"status": "completed"}\n\n'

const EMPTY = { create: 0, update: 0, replace: 0, delete: 0, read: 0, import: 0, move: 0, forget: 0, none: 0 }

export const plannedResource = (address: string, given: Partial<PlannedResource> = {}): PlannedResource => ({
  address,
  module_address: null,
  mode: 'managed',
  type: 'aws_s3_bucket',
  name: address,
  index: null,
  deposed: null,
  provider: null,
  action: 'create',
  action_reason: null,
  replace: null,
  import: null,
  moved_from: null,
  is_targeted: true,
  is_critical: false,
  critical_reason: null,
  criticality_known: true,
  attributes: [{ path: ['bucket'], change: 'added', before: null, after: address }],
  attributes_left_out: 0,
  attributes_unchanged: 0,
  depends_on: [],
  depends_on_left_out: 0,
  findings: [],
  statements: [],
  ...given,
})

export function planDocument(resources: PlannedResource[], given: Partial<PlanDocument> = {}): PlanDocument {
  const summary = { ...EMPTY }
  for (const { action } of resources) summary[action]++
  return {
    schema_version: 1,
    engine: { name: 'OpenTofu', version: '1.10.6' },
    targets: [],
    checked: { rules: true, request: true, outside_targets: true },
    summary,
    resources,
    outputs: [],
    drift: [],
    drift_left_out: 0,
    findings: [],
    statements: [],
    outside_targets: null,
    resources_without_attributes: 0,
    ...given,
  }
}

/** Replaces the document of a session's last plan. */
export const servePlan = (page: Page, { rounds }: Session, document: object) =>
  serveArtifact(
    page,
    rounds.flatMap(({ plans }) => plans.flatMap(({ document_url }) => document_url ?? [])).at(-1) ?? '',
    { json: document },
  )
