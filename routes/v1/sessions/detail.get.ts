import { z } from '@hono/zod-openapi'
import type { Context } from 'hono'
import { sessionNotFound } from '../../../src/base/errors.ts'
import { compareBudgets } from '../../../src/budget/budget.ts'
import { loadAggregate } from '../../../src/sessions/aggregate.ts'
import { requireReadableSession, requireUser } from '../../access.ts'
import { endpoint } from '../../endpoint.ts'
import type { AppEnv } from '../../env.ts'
import { json, STORE_ERROR } from '../../openapi/answers.ts'
import { toSeal } from '../../schemas/seal.ts'
import { SessionAggregate } from '../../schemas/session.ts'
import { BOOLEAN, boolean, uuid } from '../../validation/fields.ts'

export const DetailQuery = z.object({
  id: uuid().describe('The session.'),
  include_history: boolean()
    .optional()
    .transform((value) => value ?? false)
    .openapi({
      ...BOOLEAN,
      default: false,
      description: 'With the conversation; reads the database, never the cache.',
    }),
})

/** Reads a session in the form of the API. Throws 404 for an unknown one. */
export async function readDetail(c: Context<AppEnv>, { id, include_history }: z.output<typeof DetailQuery>) {
  const aggregate = await loadAggregate(c.var.platform, id, { includeHistory: include_history })
  if (!aggregate) throw sessionNotFound(id)
  const { saved_plan, ...detail } = aggregate
  const { round } = c.var.platform.config.llm.budget
  // The limit of today counts, also for a detail that is cached.
  const rounds = detail.rounds.map(({ spent, ...shown }) => ({
    ...shown,
    budgets: compareBudgets(round ? { round } : {}, { round: spent }),
  }))
  return { ...detail, rounds, seal: saved_plan && toSeal(saved_plan) }
}

export const getSession = endpoint({
  method: 'get',
  path: '/v1/sessions',
  operationId: 'getSession',
  tags: ['Sessions'],
  summary: 'One session',
  description: 'The session with its rounds and artifacts. For its owner and for every holder of a panel role.',
  request: { query: DetailQuery },
  answer: json(SessionAggregate, 'The session.'),
  errors: [403, 404, STORE_ERROR],
  gate: requireUser,
  handle: async (c, { query }) => {
    const { uuid } = await requireReadableSession(c, query.id)
    return readDetail(c, { ...query, id: uuid })
  },
})
