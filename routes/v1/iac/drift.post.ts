import { createRoute, type z } from '@hono/zod-openapi'
import { endpoint } from '../../endpoint.ts'
import { requireOperation } from '../../middleware/gates.ts'
import { BODY_ERRORS, errors, json, jsonBody, roundRefusals, signedIn, UNREACHABLE } from '../../openapi/answers.ts'
import { DriftRequest } from '../../schemas/iac-request.ts'
import { SessionId } from '../../schemas/session.ts'
import { REQUEST_BODY } from '../../validation/body-limits.ts'
import { schedule } from './schedule.ts'

export const postDrift = endpoint({
  route: createRoute({
    method: 'post',
    path: '/v1/iac/drift',
    operationId: 'postDrift',
    tags: ['Rounds'],
    summary: 'Remediate drift',
    description:
      'Brings the code back in line with what really runs: all of it, or with `is_partial` what `q` names. ' +
      'With `preview` the round only reports what differs. ' +
      'Opens a session or continues one, like generate. For operation role devops; ' +
      'a continued session must be your own.',
    security: signedIn,
    request: { body: jsonBody(DriftRequest) },
    responses: {
      202: json(SessionId, 'The round is queued.'),
      ...errors(...BODY_ERRORS, UNREACHABLE, 401, ...roundRefusals('devops'), 404),
    },
  }),
  gates: [requireOperation('devops')],
  maxBodyBytes: REQUEST_BODY,
  handle: async (c, { body }) => {
    const answer: z.input<typeof SessionId> = { session_id: await schedule(c, { ...body, mode: 'drift' }) }
    return c.json(answer, 202)
  },
})
