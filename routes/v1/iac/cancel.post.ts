import { cancelRound } from '../../../src/rounds/cancel.ts'
import { actorOf, requireOperation, requireSessionToManage } from '../../access.ts'
import { endpoint } from '../../endpoint.ts'
import { errorAnswer, json } from '../../openapi/answers.ts'
import { SessionId, SessionReference } from '../../schemas/session.ts'

export const postCancel = endpoint({
  method: 'post',
  path: '/v1/iac/cancel',
  operationId: 'postCancel',
  tags: ['Rounds'],
  summary: 'Stop the round of a session',
  description:
    'Ends the round that runs or waits in the session. It ends `uncompleted` with `Cancelled by <e-mail or name>.` ' +
    'A round that waits ends at once; one that runs ends when its engine has stopped and released the state. ' +
    'An apply reports what was applied and what was not. The same call twice changes nothing more. ' +
    'For operation role developer or higher and the owner of the session, and for panel role editor or higher, ' +
    'whoever owns it, also while the session is locked.',
  request: { body: SessionReference },
  answer: json(SessionId, 'The round ends or has ended.', 202),
  errors: [
    404,
    errorAnswer(
      409,
      'No round runs, or it has begun to seal its plan and ends by itself.',
      'Session 5f0c3b0e-8f57-4a52-9f0b-0d9f3c1f7a11 has no round that could be cancelled.',
      'The round of session 5f0c3b0e-8f57-4a52-9f0b-0d9f3c1f7a11 seals its plan and ends now; ' +
        'it cannot be cancelled any more.',
    ),
  ],
  gate: requireOperation('developer'),
  handle: async (c, { body }) => {
    const { uuid } = await requireSessionToManage(c, body.session_id)
    const actor = actorOf(c)
    const outcome = await cancelRound(c.var.platform, { session_uuid: uuid, by: actor.name.trim(), actor })
    c.var.log.info('round cancelled', { session_id: uuid, outcome })
    return { session_id: uuid }
  },
})
