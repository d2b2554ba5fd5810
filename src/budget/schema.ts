import { z } from '@hono/zod-openapi'
import { BUDGETS } from './spend.ts'

/** A limit of `llm.budget`, and what is left of it. */
export const BudgetSchema = z
  .object({
    budget: z
      .enum(BUDGETS)
      .describe('`round`: of this round. `user_day`: of its user today. `platform_day`: of all users today.'),
    unit: z.enum(['tokens', 'dollars']).describe('Tokens are those of input and output together; dollars are US.'),
    limit: z.number(),
    used: z.number().describe('May exceed the limit by the calls that ran when it was reached.'),
    left: z.number().describe('Never below 0.'),
  })
  .openapi('Budget', {
    example: { budget: 'user_day', unit: 'tokens', limit: 2_000_000, used: 1_250_400, left: 749_600 },
  })
export type Budget = z.output<typeof BudgetSchema>
