import { DriftRequest } from '../../schemas/iac-request.ts'
import { operationEndpoint } from './schedule.ts'

export const postDrift = operationEndpoint('drift', 'devops', {
  operationId: 'postDrift',
  summary: 'Remediate drift',
  description:
    'Brings the code back in line with what really runs: all of it, or with `is_partial` what `q` names. ' +
    'With `preview` the round only reports what differs. ' +
    'Opens a session or continues one, like generate. For operation role devops; ' +
    'a continued session must be your own.',
  body: DriftRequest,
})
