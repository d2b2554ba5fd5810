import { endpoint } from '../../endpoint.ts'
import { requireOperation } from '../../middleware/gates.ts'
import { BODY_ERRORS, errors, json, jsonBody, roundRefusals, UNREACHABLE } from '../../openapi/answers.ts'
import { ImportRequest } from '../../schemas/iac-request.ts'
import { SessionId } from '../../schemas/session.ts'
import { REQUEST_BODY } from '../../validation/read-body.ts'
import { schedule } from './schedule.ts'

export const postImport = endpoint({
  method: 'post',
  path: '/v1/iac/import',
  operationId: 'postImport',
  tags: ['Rounds'],
  summary: 'Import existing resources',
  description:
    'Takes resources of the scope into code and state: all of them, or with `is_partial` what `q` names. ' +
    'A full import needs a text too, which then selects nothing. With `preview` the round only lists the scope, as ' +
    'an artifact of the round; a later import of the session takes `resource_ids` chosen from it. ' +
    'Opens a session or continues one, like generate. ' +
    'For operation role developer or higher; a continued session must be your own.',
  request: { body: jsonBody(ImportRequest) },
  responses: {
    202: json(SessionId, 'The round is queued.'),
    ...errors(...BODY_ERRORS, UNREACHABLE, 401, ...roundRefusals('developer'), 404),
  },
  gate: requireOperation('developer'),
  maxBodyBytes: REQUEST_BODY,
  handle: async (c, { body }) => {
    return { session_id: await schedule(c, { ...body, mode: 'import' }) }
  },
})
