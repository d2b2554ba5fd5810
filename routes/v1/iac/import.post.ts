import { ImportRequest } from '../../schemas/iac-request.ts'
import { operationEndpoint } from './schedule.ts'

export const postImport = operationEndpoint('import', 'developer', {
  operationId: 'postImport',
  summary: 'Import existing resources',
  description:
    'Takes resources of the scope into code and state: all of them, or with `is_partial` what `q` names. ' +
    'A full import needs a text too, which then selects nothing. With `preview` the round only lists the scope, as ' +
    'an artifact of the round; a later import of the session takes `resource_ids` chosen from it. ' +
    'Opens a session or continues one, like generate. ' +
    'For operation role developer or higher; a continued session must be your own.',
  body: ImportRequest,
})
