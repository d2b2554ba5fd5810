import type { z } from '@hono/zod-openapi'
import type { Context } from 'hono'
import type { OperationRole } from '../../../src/access/users.ts'
import type { Operation } from '../../../src/base/vocabulary.ts'
import { assertBudgetLeft } from '../../../src/budget/budget.ts'
import { readReachableHead } from '../../../src/repository/head.ts'
import { assertMayPush } from '../../../src/repository/push-right.ts'
import { acceptFirstRound, acceptRound } from '../../../src/rounds/accept.ts'
import { NotPreviewed, notListed } from '../../../src/rounds/previews.ts'
import type { RoundRequest } from '../../../src/rounds/round.ts'
import { actorOf, requireOperation, requireOwnRepository, requirePlace } from '../../access.ts'
import { type Endpoint, endpoint } from '../../endpoint.ts'
import type { AppEnv } from '../../env.ts'
import { errorAnswer, json, repositoryRefusals, UNREACHABLE } from '../../openapi/answers.ts'
import type { GenerateRequest, ImportRequest } from '../../schemas/iac-request.ts'
import { SessionId } from '../../schemas/session.ts'
import { echo, InvalidRequest, type Problem, ProblemList } from '../../validation/problem.ts'
import { REQUEST_BODY } from '../../validation/read-body.ts'
import { valueError } from '../../validation/validate.ts'

/** A validated request of the routes generate, drift and import, which share their body. */
type ScheduleRequest = z.output<typeof GenerateRequest> & Partial<z.output<typeof ImportRequest>>

/** Makes the endpoint of an operation, which opens a session or continues one. */
export const operationEndpoint = <T extends z.ZodType<ScheduleRequest>>(
  mode: Operation,
  role: OperationRole,
  definition: { operationId: string; summary: string; description: string; body: T },
): Endpoint => {
  const { body: schema, ...texts } = definition
  return endpoint({
    method: 'post',
    path: `/v1/iac/${mode}`,
    tags: ['Rounds'],
    ...texts,
    request: { body: schema },
    answer: json(SessionId, 'The round is queued.', 202),
    errors: [UNREACHABLE, ...repositoryRefusals(role), 404, BUDGET_REACHED],
    gate: requireOperation(role),
    maxBodyBytes: REQUEST_BODY,
    handle: async (c, { body }) => ({ session_id: await schedule(c, mode, body as ScheduleRequest) }),
  })
}

const BUDGET_REACHED = errorAnswer(
  429,
  "The model budget of the caller's day, or of the platform's, is used up; `Retry-After` says when it is whole again.",
  'No round was started: the model budget of one user for one day is used up: its limit is 2,000,000 tokens, and ' +
    '2,013,400 were used on 2026-01-31 (UTC). It is whole again at 2026-02-01 00:00 UTC. Who operates the platform can raise it ' +
    '(llm.budget.user_day.tokens).',
)

/**
 * Opens a session with its first round, or adds a round to a session; returns the uuid of the session. Throws the
 * errors of `continueSession` for an existing session; 403, also for a scope that is bound to others, and those of the authorization sidecar where it is enforced;
 * 400 when the repository cannot be reached, or a round that is no preview could not push to it; 429 when a model budget
 * of the day is used up.
 */
async function schedule(c: Context<AppEnv>, mode: Operation, request: ScheduleRequest): Promise<string> {
  const { platform, user } = c.var
  const { repo_uri, scope_id, engine_providers, session_id, iac_path = null, q: query, is_partial = false } = request
  const round = { mode, query, is_partial, preview: request.preview, state: request.state }
  if (session_id !== undefined) return continueSession(c, session_id, { ...round, resource_ids: request.resource_ids })
  if (repo_uri === undefined || scope_id === undefined || engine_providers === undefined)
    throw new Error('a first call without its keys passed validation')
  await requirePlace(c, { repo_uri, provider: engine_providers, scope_id, iac_path })
  await requireBudget(c)
  await readReachableHead(platform, repo_uri, c.req.raw.signal)
  if (!round.preview) await assertMayPush(platform, repo_uri, c.req.raw.signal)
  const sessionUuid = await acceptFirstRound(platform, {
    ...round,
    user_id: user.id,
    repo_uri,
    scope_id,
    provider: engine_providers,
    iac_path,
    actor: actorOf(c),
  })
  c.set('log', c.var.log.with({ session_id: sessionUuid }))
  return sessionUuid
}

/**
 * Adds a round to a session of the caller; returns the uuid of the session. Throws 404 and 403 for the session; 403 and
 * those of the authorization sidecar where it is enforced; 409 for an apply on a locked session; `InvalidRequest` for
 * resources that no preview of the session lists; 429, except for an apply, when a model budget of the day is used up.
 */
export async function continueSession(c: Context<AppEnv>, sessionId: string, round: RoundRequest): Promise<string> {
  const { uuid } = await requireOwnRepository(c, sessionId)
  if (round.mode !== 'apply') await requireBudget(c)
  await acceptRound(c.var.platform, { session_uuid: uuid, ...round, actor: actorOf(c) }).catch((error: unknown) => {
    throw error instanceof NotPreviewed ? toInvalidRequest(error, round.resource_ids ?? []) : error
  })
  return uuid
}

/** Throws 429 when the caller's day or that of the platform has no budget left, so that no round begins only to fail. */
const requireBudget = ({ var: { platform, user } }: Context<AppEnv>): Promise<void> =>
  assertBudgetLeft(platform, { user_id: user.id, round_id: null }, 'No round was started: ')

/** Reports each unlisted identifier like an error of the body, or that a preview is needed first. */
function toInvalidRequest({ message, positions }: NotPreviewed, ids: readonly string[]): InvalidRequest {
  const problems = new ProblemList()
  const add = (at: Problem['loc'], text: string, input: unknown) =>
    problems.add(() => ({ ...valueError(text), loc: ['body', 'resource_ids', ...at], input }))
  if (positions === null) add([], message, echo(ids))
  for (const position of positions ?? []) {
    const shown = echo(ids[position])
    add([position], notListed(typeof shown === 'string' ? shown : null), shown)
  }
  return new InvalidRequest(problems.toList())
}
