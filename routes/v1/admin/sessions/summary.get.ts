import { z } from '@hono/zod-openapi'
import { STATUSES, type Status } from '../../../../src/base/vocabulary.ts'
import { countTotals, countWaiting, sumSpend } from '../../../../src/sessions/lists/totals.ts'
import { requirePanel } from '../../../access.ts'
import { endpoint } from '../../../endpoint.ts'
import { json } from '../../../openapi/answers.ts'
import { sessionFilters } from '../../sessions/list.get.ts'
import { ownerFilter } from './list.get.ts'

const count = () => z.number().int()
export const SessionTotals = z
  .object({
    total: count(),
    in_flight: count().describe('Sessions with a round that is queued or runs.'),
    locked: count().describe('Sessions in which apply and merge are locked.'),
    statuses: z
      .object(
        Object.fromEntries(STATUSES.map((status) => [status, count()])) as Record<Status, ReturnType<typeof count>>,
      )
      .describe('By the latest status. Their sum is `total`.'),
    waiting: count().describe('Rounds that no worker has begun, or that wait for another one.'),
    oldest_waiting_at: z.string().nullable().openapi({
      format: 'date-time',
      description: 'When the oldest of them was asked for; null when none waits.',
    }),
    spend_30_days: z
      .object({
        rounds: count(),
        cost_usd: z.number().describe('US dollars of the rounds whose cost is known.'),
        rounds_of_unknown_cost: count(),
        input_tokens: count(),
        cached_tokens: count(),
        output_tokens: count(),
        engine_s: z.number(),
        model_s: z.number(),
      })
      .describe('Cost and time of the rounds of these sessions that ended in the last 30 days.'),
  })
  .openapi('SessionTotals', {
    example: {
      total: 412,
      in_flight: 3,
      locked: 2,
      statuses: {
        started: 1,
        filtering: 0,
        generating: 1,
        validating: 1,
        report: 0,
        apply: 0,
        completed: 380,
        uncompleted: 20,
        failed: 9,
      },
      waiting: 1,
      oldest_waiting_at: '2026-01-31T23:59:59.000000Z',
      spend_30_days: {
        rounds: 96,
        cost_usd: 11.482_09,
        rounds_of_unknown_cost: 0,
        input_tokens: 4_628_160,
        cached_tokens: 2_889_600,
        output_tokens: 491_520,
        engine_s: 2_054.4,
        model_s: 6_134.4,
      },
    },
  })

export const getAdminSessionSummary = endpoint({
  method: 'get',
  path: '/v1/admin/sessions/summary',
  operationId: 'getAdminSessionSummary',
  tags: ['Administration'],
  summary: 'How many sessions there are in each status',
  description:
    'Totals of the sessions of all users, by status, with the filters of the list; what of them waits; and what ' +
    'their rounds of the last 30 days took. For panel role viewer or higher.',
  request: { query: z.object({ ...sessionFilters, ...ownerFilter }) },
  answer: json(SessionTotals, 'The totals.'),
  gate: requirePanel('viewer'),
  handle: async (c, { query }) => {
    const { sql } = c.var.platform
    const [totals, waiting, spend_30_days] = await Promise.all([
      countTotals(sql, query),
      countWaiting(sql, query),
      sumSpend(sql, query),
    ])
    return { ...totals, ...waiting, spend_30_days }
  },
})
