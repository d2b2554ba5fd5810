import { z } from '@hono/zod-openapi'
import { CLOUDS, MODES, OPERATIONS, STATUSES } from '../../../src/base/vocabulary.ts'
import { listSessions } from '../../../src/sessions/list.ts'
import { requireUser } from '../../access.ts'
import { endpoint } from '../../endpoint.ts'
import { json } from '../../openapi/answers.ts'
import { toPage } from '../../schemas/page.ts'
import { SessionPage } from '../../schemas/session.ts'
import {
  BOOLEAN,
  boolean,
  choiceFilter,
  filter,
  queryInteger,
  repositoryUri,
  textFilter,
  timeFilter,
} from '../../validation/fields.ts'

export const pageQuery = {
  page: queryInteger({ fallback: 1, min: 1, description: 'Counted from 1; beyond the end `items` is empty.' }),
  page_size: queryInteger({ fallback: 20, min: 1, max: 100, description: 'Items of a page.' }),
}

/** The filters of lists and totals of sessions. The admin panel adds `user_email`. */
export const sessionFilters = {
  operation: choiceFilter(OPERATIONS, 'Sessions of this operation.'),
  status: choiceFilter(STATUSES, 'Sessions whose latest status is this.'),
  search: textFilter(200, 'Part of the first request, of the repository URI or of the session id.'),
  cloud: choiceFilter(CLOUDS, 'Sessions of this cloud.'),
  mode: choiceFilter(MODES, 'Sessions whose most recent round has this mode.'),
  repo_uri: filter(repositoryUri(), {
    type: 'string',
    format: 'uri',
    maxLength: 2048,
    description: 'The whole address of the repository, in upper or lower case.',
  }),
  locked: filter(boolean(), { ...BOOLEAN, description: 'Only sessions with this lock state.' }),
  created_after: timeFilter('Sessions created at this time or later (RFC 3339, with its offset from UTC).'),
  created_before: timeFilter('Sessions created before this time.'),
}

export const listQuery = {
  ...pageQuery,
  ...sessionFilters,
  sort: choiceFilter(['created', 'last_activity'], 'By `created_at` or by `updated_at`, the latest first.')
    .transform((value) => value ?? 'created')
    .openapi({ default: 'created' }),
  include_cost: filter(boolean(), { ...BOOLEAN, default: false, description: 'True adds `cost_usd` to each entry.' }),
}

export const getSessionList = endpoint({
  method: 'get',
  path: '/v1/sessions/list',
  operationId: 'getSessionList',
  tags: ['Sessions'],
  summary: 'Own sessions',
  description: "The caller's own sessions, newest first or the last active first.",
  request: { query: z.object(listQuery) },
  answer: json(SessionPage, 'One page.'),
  gate: requireUser,
  handle: async (c, { query }) => {
    const filter = { ...query, owner_id: c.get('user').id }
    return toPage(await listSessions(c.get('platform').sql, filter), query)
  },
})
