import { z } from '@hono/zod-openapi'
import { listSessions } from '../../../../src/sessions/list.ts'
import { requirePanel } from '../../../access.ts'
import { endpoint } from '../../../endpoint.ts'
import { json } from '../../../openapi/answers.ts'
import { toPage } from '../../../schemas/page.ts'
import { SessionPage } from '../../../schemas/session.ts'
import { textFilter } from '../../../validation/fields.ts'
import { listQuery } from '../../sessions/list.get.ts'

/** The additional filter of the admin panel's lists and totals. */
export const ownerFilter = { user_email: textFilter(254, "Part of the owner's e-mail.") }

export const getAdminSessionList = endpoint({
  method: 'get',
  path: '/v1/admin/sessions/list',
  operationId: 'getAdminSessionList',
  tags: ['Administration'],
  summary: 'All sessions',
  description: 'The sessions of all users, newest first or the last active first. For panel role viewer or higher.',
  request: { query: z.object({ ...listQuery, ...ownerFilter }) },
  answer: json(SessionPage, 'One page.'),
  gate: requirePanel('viewer'),
  handle: async (c, { query }) => toPage(await listSessions(c.var.platform.sql, query), query),
})
