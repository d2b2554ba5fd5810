import { requireOperation } from '../../access.ts'
import { endpoint } from '../../endpoint.ts'
import { errorAnswer, json, repositoryRefusals } from '../../openapi/answers.ts'
import { SessionId, SessionReference } from '../../schemas/session.ts'
import { continueSession } from './schedule.ts'

export const postApply = endpoint({
  method: 'post',
  path: '/v1/iac/apply',
  operationId: 'postApply',
  tags: ['Rounds'],
  summary: 'Apply the pinned plan',
  description:
    'Applies the plan of the last successful generate round as it was validated; nothing is planned again. ' +
    'For operation role developer or higher and the owner of the session. ' +
    'On a session that runs, or whose last round failed, the answer is the same and nothing happens.',
  request: { body: SessionReference },
  answer: json(SessionId, 'The round is queued.', 202),
  errors: [
    ...repositoryRefusals('developer'),
    404,
    errorAnswer(
      409,
      'The session is locked.',
      'Session 5f0c3b0e-8f57-4a52-9f0b-0d9f3c1f7a11 is blocked; apply is not allowed.',
    ),
  ],
  gate: requireOperation('developer'),
  handle: async (c, { body }) => {
    const round = { mode: 'apply', query: 'Engine apply.', is_partial: false } as const
    return { session_id: await continueSession(c, body.session_id, round) }
  },
})
