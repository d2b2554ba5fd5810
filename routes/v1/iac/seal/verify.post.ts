import { verifySavedPlan } from '../../../../src/saved-plans/verify.ts'
import { requireOperation, requireRepositoryToManage } from '../../../access.ts'
import { endpoint } from '../../../endpoint.ts'
import { errorAnswer, json, sidecarErrors } from '../../../openapi/answers.ts'
import { SealVerification, toSeal } from '../../../schemas/seal.ts'
import { SessionReference } from '../../../schemas/session.ts'

export const postVerifySeal = endpoint({
  method: 'post',
  path: '/v1/iac/seal/verify',
  operationId: 'postVerifySeal',
  tags: ['Rounds'],
  summary: 'Compare the sealed plan with the present state',
  description:
    'Compares the sealed plan with the session branch, the engine, the managed state and the locks as they are. ' +
    'Nothing is planned or applied, and a running round is not touched. What cannot be seen is `unknown`. ' +
    'The result is kept and shown with the session. Answers within 10 seconds. ' +
    'For operation role developer or higher and the owner of the session, and for panel role editor or higher.',
  request: { body: SessionReference },
  answer: json(SealVerification, 'What holds and what does not.'),
  errors: [
    errorAnswer(
      403,
      'The caller neither owns the session nor has panel role editor or higher. Where the authorization service is ' +
        'enforced: it refuses, in its words.',
      'Not the session owner',
    ),
    ...sidecarErrors('authz', 15),
    404,
    errorAnswer(
      409,
      'Nothing is sealed.',
      'Session 5f0c3b0e-8f57-4a52-9f0b-0d9f3c1f7a11 has no sealed plan.',
      'Session 5f0c3b0e-8f57-4a52-9f0b-0d9f3c1f7a11 has no sealed plan. Used by round 4.',
    ),
  ],
  gate: requireOperation('developer'),
  handle: async (c, { body }) => {
    const session = await requireRepositoryToManage(c, body.session_id)
    const { plan, ...verification } = await verifySavedPlan(c.var.platform, session)
    return { seal: toSeal(plan), ...verification }
  },
})
