import type { Page, Route } from '@playwright/test'
import type { SessionSummary, User } from '../../../console/client/api/schemas.ts'

const JSON_TYPE = { 'content-type': 'application/json' }
const ME: User = {
  id: 1,
  email: 'ada@example.org',
  display_name: 'Ada',
  operation_role: 'developer',
  panel_role: null,
}

export const answer = (route: Route, body: unknown, status = 200) =>
  route.fulfill({ status, headers: JSON_TYPE, body: JSON.stringify(body) })

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
