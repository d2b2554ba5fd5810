import { endpoint } from '../../endpoint.ts'
import { requireOperation } from '../../middleware/gates.ts'
import { BODY_ERRORS, errors, json, jsonBody, roundRefusals, UNREACHABLE } from '../../openapi/answers.ts'
import { DriftRequest } from '../../schemas/iac-request.ts'
import { SessionId } from '../../schemas/session.ts'
import { REQUEST_BODY } from '../../validation/read-body.ts'
import { schedule } from './schedule.ts'

export const postDrift = endpoint({
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
  request: { body: jsonBody(DriftRequest) },
  responses: {
    202: json(SessionId, 'The round is queued.'),
    ...errors(...BODY_ERRORS, UNREACHABLE, 401, ...roundRefusals('devops'), 404),
  },
  gate: requireOperation('devops'),
  maxBodyBytes: REQUEST_BODY,
  handle: async (c, { body }) => {
    return { session_id: await schedule(c, { ...body, mode: 'drift' }) }
  },
})
