import { z } from '@hono/zod-openapi'
import type { Context } from 'hono'
import { toCsv } from '../../../src/access/audit/csv.ts'
import { type AuditFilter, listAuditRecords, readAuditRecords } from '../../../src/access/audit/list.ts'
import { AUDIT_ACTIONS } from '../../../src/access/audit/record.ts'
import { sumRefusals } from '../../../src/access/audit/refusals.ts'
import { requirePanel } from '../../access.ts'
import { endpoint } from '../../endpoint.ts'
import type { AppEnv } from '../../env.ts'
import { AuditPage } from '../../schemas/audit.ts'
import { toPage } from '../../schemas/page.ts'
import { choiceFilter, filter, textFilter, timeFilter, uuid } from '../../validation/fields.ts'
import { pageQuery } from '../sessions/list.get.ts'

const MOST_ROWS = 100_000

/** The form of RFC 3339. The offset is required, so that the time is unambiguous. */
const RFC_3339 = /^(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d:\d\d)(\.\d{1,9})?([Zz]|[+-]\d\d:\d\d)$/

/**
 * Makes a schema for a time in the query string, converted to UTC with all fractional digits in a form that the
 * database reads. A time before 1970, when nothing was recorded, becomes the beginning of 1970.
 */
const moment = () =>
  z.string().transform((value, ctx) => {
    const utc = toUtc(value)
    if (utc !== null) return utc
    ctx.addIssue({
      code: 'custom',
      message: 'Input should be a valid datetime with its offset, for example 2026-01-31T23:59:59Z',
      params: { type: 'datetime_parsing' },
    })
    return z.NEVER
  })

const AuditQuery = z.object({
  ...pageQuery,
  action: choiceFilter(AUDIT_ACTIONS, 'Entries of this action.'),
  user_email: textFilter(254, 'Part of the present e-mail of the user who did it.'),
  session_id: filter(uuid(), { type: 'string', format: 'uuid', description: 'About this session.' }),
  after: timeFilter('From this moment on.', moment()),
  before: timeFilter('From before this moment.', moment()),
  format: choiceFilter(
    ['json', 'csv'],
    `\`csv\`: all that match, newest first, at most ${MOST_ROWS} lines; \`Accept: text/csv\` asks for the same.`,
  ),
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
  const batches = readAuditRecords(c.var.platform.sql, filter, { batch: 1_000, most: MOST_ROWS })
  return c.body(toCsv(batches), 200, {
    'content-type': 'text/csv; charset=utf-8',
    'content-disposition': 'attachment; filename="audit.csv"',
  })
}

function toUtc(value: string): string | null {
  // An unencoded plus sign arrives as a blank.
  const [, day = '', time = '', fraction = '', offset = ''] =
    RFC_3339.exec(value.trim().replace(/ (\d\d:\d\d)$/, '+$1')) ?? []
  const ms = Date.parse(`${day}T${time}${offset.toUpperCase()}`)
  // Only existing days: some runtimes parse 30 February as 2 March.
  const midnight = new Date(`${day}T00:00:00Z`)
  if (Number.isNaN(ms) || Number.isNaN(midnight.getTime()) || midnight.toISOString().slice(0, 10) !== day) return null
  if (ms < 0) return '1970-01-01T00:00:00Z'
  const whole = new Date(ms).toISOString()
  return /^\d{4}-/.test(whole) ? `${whole.slice(0, 19)}${fraction}Z` : null
}
