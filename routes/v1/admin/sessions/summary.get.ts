import { createRoute, z } from '@hono/zod-openapi'
import type { STATUSES } from '../../../../src/base/vocabulary.ts'
import { countTotals } from '../../../../src/sessions/lists/totals.ts'
import { endpoint } from '../../../endpoint.ts'
import { requirePanel } from '../../../middleware/gates.ts'
import { errors, json, panelForbidden, signedIn } from '../../../openapi/answers.ts'
import { sessionFilters } from '../../sessions/list.get.ts'
import { ownerFilter } from './list.get.ts'

const count = () => z.number().int()
export const SessionTotals = z
  .object({
    total: count(),
    in_flight: count().openapi({ description: 'Sessions with a round that is queued or runs.' }),
    locked: count().openapi({ description: 'Sessions in which apply and merge are locked.' }),
    statuses: z
      .object({
        started: count(),
        filtering: count(),
        generating: count(),
        validating: count(),
        report: count(),
        apply: count(),
        completed: count(),
        uncompleted: count(),
        failed: count(),
      } satisfies Record<(typeof STATUSES)[number], z.ZodType>)
      .openapi({ description: 'By the latest status. Their sum is `total`.' }),
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
    },
  })

export const getAdminSessionSummary = endpoint({
  route: createRoute({
    method: 'get',
    path: '/v1/admin/sessions/summary',
    operationId: 'getAdminSessionSummary',
    tags: ['Administration'],
    summary: 'How many sessions there are in each status',
    description:
      'Totals of the sessions of all users, by status, with the filters of the list. For panel role viewer or higher.',
    security: signedIn,
    request: { query: z.object({ ...sessionFilters, ...ownerFilter }) },
    responses: { 200: json(SessionTotals, 'The totals.'), ...errors(401, panelForbidden('viewer'), 422) },
  }),
  gates: [requirePanel('viewer')],
  handle: async (c, { query }) => {
    const answer: z.input<typeof SessionTotals> = await countTotals(c.var.platform.sql, query)
    return c.json(answer)
  },
})
