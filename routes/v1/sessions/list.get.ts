import { z } from '@hono/zod-openapi'
import { CLOUDS, MODES, OPERATIONS, STATUSES } from '../../../src/base/vocabulary.ts'
import { listSessions } from '../../../src/sessions/list.ts'
import { endpoint } from '../../endpoint.ts'
import { requireUser } from '../../middleware/gates.ts'
import { json } from '../../openapi/answers.ts'
import { toPage } from '../../page.ts'
import { SessionPage } from '../../schemas/session.ts'
import {
  anyCase,
  BOOLEAN,
  blankIsAbsent,
  boolean,
  queryInteger,
  repositoryUri,
  text,
  timestamp,
} from '../../validation/fields.ts'

export const pageQuery = {
  page: queryInteger({ fallback: 1, min: 1, description: 'Counted from 1; beyond the end `items` is empty.' }),
  page_size: queryInteger({ fallback: 20, min: 1, max: 100, description: 'Items of a page.' }),
}

/** The filters of lists and totals of sessions. The admin panel adds `user_email`. */
export const sessionFilters = {
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
  cloud: blankIsAbsent(anyCase(z.enum(CLOUDS))).openapi({
    type: 'string',
    enum: [...CLOUDS],
    description: 'Sessions of this cloud.',
  }),
  mode: blankIsAbsent(anyCase(z.enum(MODES))).openapi({
    type: 'string',
    enum: [...MODES],
    description: 'Sessions whose most recent round has this mode.',
  }),
  repo_uri: blankIsAbsent(repositoryUri()).openapi({
    type: 'string',
    format: 'uri',
    maxLength: 2048,
    description: 'The whole address of the repository, in upper or lower case.',
  }),
  locked: blankIsAbsent(boolean()).openapi({ ...BOOLEAN, description: 'Only sessions with this lock state.' }),
  created_after: blankIsAbsent(timestamp()).openapi({
    type: 'string',
    format: 'date-time',
    description: 'Sessions created at this time or later (RFC 3339, with its offset from UTC).',
  }),
  created_before: blankIsAbsent(timestamp()).openapi({
    type: 'string',
    format: 'date-time',
    description: 'Sessions created before this time.',
  }),
}

export const listQuery = {
  ...pageQuery,
  ...sessionFilters,
  sort: blankIsAbsent(anyCase(z.enum(['created', 'last_activity'])))
    .transform((value) => value ?? 'created')
    .openapi({
      type: 'string',
      enum: ['created', 'last_activity'],
      default: 'created',
      description: 'By `created_at` or by `updated_at`, the latest first.',
    }),
  include_cost: blankIsAbsent(boolean()).openapi({
    ...BOOLEAN,
    default: false,
    description: 'True adds `cost_usd` to each entry.',
  }),
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
    const result = await listSessions(c.var.platform.sql, { ...query, owner_id: c.var.user.id })
    return toPage(result, query)
  },
})
