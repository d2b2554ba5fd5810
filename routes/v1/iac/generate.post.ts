import { GenerateRequest } from '../../schemas/iac-request.ts'
import { operationEndpoint } from './schedule.ts'

export const postGenerate = operationEndpoint('generate', 'developer', {
  operationId: 'postGenerate',
  summary: 'Generate infrastructure',
  description:
    'Opens a session on a repository (`repo_uri`, `scope_id`, `engine_providers`) or continues one (`session_id`). ' +
    'Answers as soon as the round is queued; its progress is on the event stream. ' +
    'On a session that runs, or whose last round failed, the answer is the same and nothing happens. ' +
    'For operation role developer or higher; a continued session must be your own.',
  body: GenerateRequest,
})
