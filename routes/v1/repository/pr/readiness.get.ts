import { z } from '@hono/zod-openapi'
import { requireOperation, requireRepositoryToManage } from '../../../access.ts'
import { endpoint } from '../../../endpoint.ts'
import { errorAnswer, json, sidecarErrors } from '../../../openapi/answers.ts'
import { MergeReadiness } from '../../../schemas/readiness.ts'
import { uuid } from '../../../validation/fields.ts'

export const getMergeReadiness = endpoint({
  method: 'get',
  path: '/v1/repository/pr/readiness',
  operationId: 'getMergeReadiness',
  tags: ['Repository'],
  summary: 'What stands in the way of the merge',
  description:
    'Asks the git host whether the most recently opened pull request of the session can be merged, by which method, ' +
    'and what is missing. A reading serves for 10 seconds. A git host that fails or does not say is `unknown`, and no ' +
    'error. Answers within 20 seconds. For operation role developer or higher and the owner of the session, and for ' +
    'panel role editor or higher.',
  request: { query: z.object({ session_id: uuid() }) },
  answer: json(MergeReadiness, 'What the git host says.'),
  errors: [
    errorAnswer(
      403,
      'The caller neither owns the session nor has panel role editor or higher. Where the authorization service is ' +
        'enforced: it refuses, in its words.',
      'Not the session owner',
    ),
    ...sidecarErrors('authz', 15),
    errorAnswer(
      404,
      'Unknown session, or one without pull requests.',
      'Session 5f0c3b0e-8f57-4a52-9f0b-0d9f3c1f7a11 not found.',
      'Session 5f0c3b0e-8f57-4a52-9f0b-0d9f3c1f7a11 has no pull requests.',
    ),
  ],
  gate: requireOperation('developer'),
  handle: async (c, { query }) => {
    const session = await requireRepositoryToManage(c, query.session_id)
    // As in `merge.put.ts`.
    const { readMergeReadiness } = await import('../../../../src/pull-requests/read-readiness.ts')
    return await readMergeReadiness(c.var.platform, session)
  },
})
