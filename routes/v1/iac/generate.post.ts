import { endpoint } from '../../endpoint.ts'
import { requireOperation } from '../../middleware/gates.ts'
import { BODY_ERRORS, errors, json, jsonBody, roundRefusals, UNREACHABLE } from '../../openapi/answers.ts'
import { GenerateRequest } from '../../schemas/iac-request.ts'
import { SessionId } from '../../schemas/session.ts'
import { REQUEST_BODY } from '../../validation/read-body.ts'
import { schedule } from './schedule.ts'

export const postGenerate = endpoint({
  method: 'post',
  path: '/v1/iac/generate',
  operationId: 'postGenerate',
  tags: ['Rounds'],
  summary: 'Generate infrastructure',
  description:
    'Opens a session on a repository (`repo_uri`, `scope_id`, `engine_providers`) or continues one (`session_id`). ' +
    'Answers as soon as the round is queued; its progress is on the event stream. ' +
    'On a session that runs, or whose last round failed, the answer is the same and nothing happens. ' +
    'For operation role developer or higher; a continued session must be your own.',
  request: { body: jsonBody(GenerateRequest) },
  responses: {
    202: json(SessionId, 'The round is queued.'),
    ...errors(...BODY_ERRORS, UNREACHABLE, 401, ...roundRefusals('developer'), 404),
  },
  gate: requireOperation('developer'),
  maxBodyBytes: REQUEST_BODY,
  handle: async (c, { body }) => {
    return {
      session_id: await schedule(c, { ...body, mode: 'generate', is_partial: false }),
    }
  },
})
