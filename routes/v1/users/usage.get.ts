import { z } from '@hono/zod-openapi'
import { dayAfter, dayOf, readBudgets } from '../../../src/budget/budget.ts'
import { BudgetSchema } from '../../../src/budget/schema.ts'
import { readUserDay } from '../../../src/budget/spend.ts'
import { requireUser } from '../../access.ts'
import { endpoint } from '../../endpoint.ts'
import { json } from '../../openapi/answers.ts'

const count = () => z.number().int()

export const ModelUsage = z
  .object({
    day: z.string().openapi({ format: 'date' }).describe('Today, in UTC.'),
    ends_at: z.string().openapi({ format: 'date-time' }).describe('When the budgets of a day are whole again.'),
    input_tokens: count(),
    cached_tokens: count().describe('Part of `input_tokens`.'),
    output_tokens: count(),
    cost_usd: z.number().nullable().describe('US dollars; null when the price of a call is not known.'),
    budgets: z
      .array(BudgetSchema)
      .describe('What is left of `user_day` and `platform_day`, one entry for each configured limit.'),
  })
  .openapi('ModelUsage', {
    example: {
      day: '2026-01-31',
      ends_at: '2026-02-01T00:00:00.000Z',
      input_tokens: 1_180_200,
      cached_tokens: 702_000,
      output_tokens: 70_200,
      cost_usd: 2.841_3,
      budgets: [{ budget: 'user_day', unit: 'tokens', limit: 2_000_000, used: 1_250_400, left: 749_600 }],
    },
  })

export const getMyUsage = endpoint({
  method: 'get',
  path: '/v1/users/me/usage',
  operationId: 'getMyUsage',
  tags: ['Identity'],
  summary: 'What the caller used of models today',
  description:
    'Tokens and cost of the model calls of the caller since midnight UTC, in rounds and for the texts of pull ' +
    'requests, and what is left of the budgets of a day. The stream of activity tells it live, with the budget of ' +
    'the round (`budget.left`).',
  answer: json(ModelUsage, 'The usage.'),
  gate: requireUser,
  handle: async (c) => {
    const { platform, user } = c.var
    const now = platform.now()
    const [used, budgets] = await Promise.all([
      readUserDay(platform.sql, user.id, dayOf(now)),
      readBudgets(platform, { user_id: user.id, round_id: null }),
    ])
    return { day: dayOf(now), ends_at: dayAfter(now).toISOString(), ...used, budgets }
  },
})
