import { createRoute, z } from '@hono/zod-openapi'
import { OPERATIONS, STATUSES } from '../../../src/base/vocabulary.ts'
import { listSessions } from '../../../src/sessions/list.ts'
import { endpoint } from '../../endpoint.ts'
import { requireUser } from '../../middleware/gates.ts'
import { errors, json, signedIn } from '../../openapi/answers.ts'
import { toPage } from '../../page.ts'
import { SessionPage } from '../../schemas/session.ts'
import { anyCase, blankIsAbsent, queryInteger, text } from '../../validation/fields.ts'

export const pageQuery = {
  page: queryInteger({ fallback: 1, min: 1, description: 'Counted from 1; beyond the end `items` is empty.' }),
  page_size: queryInteger({ fallback: 20, min: 1, max: 100, description: 'Items of a page.' }),
}

/** The query of a list of sessions. The list of the admin panel has these keys and `user_email`. */
export const listQuery = {
  ...pageQuery,
  operation: blankIsAbsent(anyCase(z.enum(OPERATIONS))).openapi({
    type: 'string',
    enum: [...OPERATIONS],
    description: 'Sessions of this operation.',
  }),
  status: blankIsAbsent(anyCase(z.enum(STATUSES))).openapi({
    type: 'string',
    enum: [...STATUSES],
    description: 'Sessions whose latest status is this.',
  }),
  search: blankIsAbsent(text({ max: 200 })).openapi({
    type: 'string',
    maxLength: 200,
    description: 'Part of the first request, of the repository URI or of the session id.',
  }),
}

export const getSessionList = endpoint({
  route: createRoute({
    method: 'get',
    path: '/v1/sessions/list',
    operationId: 'getSessionList',
    tags: ['Sessions'],
    summary: 'Own sessions',
    description: "The caller's own sessions, newest first.",
    security: signedIn,
    request: { query: z.object(listQuery) },
    responses: { 200: json(SessionPage, 'One page.'), ...errors(401, 422) },
  }),
  gates: [requireUser],
  handle: async (c, { query }) => {
    const result = await listSessions(c.var.platform.sql, { ...query, owner_id: c.var.user.id })
    const answer: z.input<typeof SessionPage> = toPage(result, query)
    return c.json(answer)
  },
})
