import { z } from '@hono/zod-openapi'
import type { Context } from 'hono'
import { toCsv } from '../../../src/access/audit/csv.ts'
import { type AuditFilter, listAuditRecords, readAuditRecords } from '../../../src/access/audit/list.ts'
import { AUDIT_ACTIONS } from '../../../src/access/audit/record.ts'
import { sumRefusals } from '../../../src/access/audit/refusals.ts'
import { endpoint } from '../../endpoint.ts'
import type { AppEnv } from '../../env.ts'
import { requirePanel } from '../../middleware/gates.ts'
import { toPage } from '../../page.ts'
import { AuditPage } from '../../schemas/audit.ts'
import { anyCase, blankIsAbsent, text, uuid } from '../../validation/fields.ts'
import { timestamp } from '../../validation/timestamp.ts'
import { pageQuery } from '../sessions/list.get.ts'

const MOST_ROWS = 100_000
const BATCH = 1_000
const FORMATS = ['json', 'csv'] as const

const AuditQuery = z.object({
  ...pageQuery,
  action: blankIsAbsent(anyCase(z.enum(AUDIT_ACTIONS))).openapi({
    type: 'string',
    enum: [...AUDIT_ACTIONS],
    description: 'Entries of this action.',
  }),
  user_email: blankIsAbsent(text({ max: 254 })).openapi({
    type: 'string',
    maxLength: 254,
    description: 'Part of the present e-mail of the user who did it.',
  }),
  session_id: blankIsAbsent(uuid()).openapi({ type: 'string', format: 'uuid', description: 'About this session.' }),
  after: blankIsAbsent(timestamp()).openapi({
    type: 'string',
    format: 'date-time',
    description: 'From this moment on.',
  }),
  before: blankIsAbsent(timestamp()).openapi({
    type: 'string',
    format: 'date-time',
    description: 'From before this moment.',
  }),
  format: blankIsAbsent(anyCase(z.enum(FORMATS))).openapi({
    type: 'string',
    enum: [...FORMATS],
    description: `\`csv\`: all that match, newest first, at most ${MOST_ROWS} lines; \`Accept: text/csv\` asks for the same.`,
  }),
})

export const getAudit = endpoint({
  method: 'get',
  path: '/v1/admin/audit',
  operationId: 'getAudit',
  tags: ['Administration'],
  summary: 'Who did what',
  description:
    'The record of accepted requests, cancellations, applies, pull requests, merges, locks and roles, newest first, ' +
    'and the counts of refused sign-ins: of the last 24 hours, or from `after` until `before`, 31 days at most. ' +
    'Entries are never changed. For panel role viewer or higher.',
  request: { query: AuditQuery },
  answer: {
    status: 200,
    description: 'One page, or a file of CSV.',
    content: {
      'application/json': { schema: AuditPage },
      'text/csv': { schema: z.string(), example: 'id,at,action,actor,user_id,session_id,address,detail\r\n' },
    },
  },
  gate: requirePanel('viewer'),
  handle: async (c, { query }) => {
    const { sql, now } = c.var.platform
    const wantsCsv = query.format === undefined ? prefersCsv(c.req.header('accept')) : query.format === 'csv'
    if (wantsCsv) return answerCsv(c, query)
    const { after, before } = query
    const [{ total_is_exact, ...found }, sign_in_refusals] = await Promise.all([
      listAuditRecords(sql, query),
      sumRefusals(sql, { after, before, now: now() }),
    ])
    return { ...toPage(found, query), total_is_exact, sign_in_refusals }
  },
})

/** True if CSV is the first of the two forms that the header names. A client that accepts anything gets JSON. */
const prefersCsv = (accept = ''): boolean => {
  const named = accept.split(',').map((one) => one.split(';')[0]?.trim().toLowerCase())
  return named.find((type) => type === 'text/csv' || type === 'application/json') === 'text/csv'
}

function answerCsv(c: Context<AppEnv>, filter: AuditFilter): Response {
  const batches = readAuditRecords(c.var.platform.sql, filter, { batch: BATCH, most: MOST_ROWS })
  return c.body(toCsv(batches), 200, {
    'content-type': 'text/csv; charset=utf-8',
    'content-disposition': 'attachment; filename="audit.csv"',
  })
}
