import { z } from '@hono/zod-openapi'
import { actorOf, requireOperation, requireOwnRepository } from '../../access.ts'
import { endpoint } from '../../endpoint.ts'
import { errorAnswer, GIT_HOST_ERRORS, json, repositoryForbidden, STORE_ERROR } from '../../openapi/answers.ts'
import { SessionReference } from '../../schemas/session.ts'

export const PullRequest = z
  .object({
    id: z.number().int().describe('The number at the git host.'),
    url: z.string().openapi({ format: 'uri' }),
    status: z.string().describe('In the words of the git host.'),
  })
  .openapi('PullRequest', {
    example: { id: 12, url: 'https://github.com/acme/infrastructure/pull/12', status: 'open' },
  })

export const putPullRequest = endpoint({
  method: 'put',
  path: '/v1/repository/pr',
  operationId: 'putPullRequest',
  tags: ['Repository'],
  summary: 'Open a pull request',
  description:
    'From the branch of the session, with a title, a summary and the evidence that the session stored. ' +
    'Where one is open already, that is answered. ' +
    'For the owner. The lock is not checked. Answers within 50 seconds; when the model that writes title and ' +
    'summary takes too long, code writes them.',
  request: { body: SessionReference },
  answer: json(PullRequest, 'The pull request is open.', 201),
  errors: [
    ...GIT_HOST_ERRORS,
    repositoryForbidden('developer'),
    404,
    errorAnswer(
      409,
      'The branch of the session holds no change; or the git host sees a conflict.',
      'Nothing was changed in session 5f0c3b0e-8f57-4a52-9f0b-0d9f3c1f7a11, ' +
        'so there is nothing to open a pull request for.',
    ),
    STORE_ERROR,
    errorAnswer(
      502,
      'The git host is not reachable or does not take the credentials, or there are none; or the model failed.',
      'The git provider is not reachable.',
      'Git credentials are not configured; pull requests need the account and token of the git provider.',
      'Inference call to anthropic/small failed: overloaded',
    ),
    errorAnswer(504, 'The git host did not answer in time, or the server of the model said so.', 'PR creation timeout'),
  ],
  gate: requireOperation('developer'),
  handle: async (c, { body }) => {
    const session = await requireOwnRepository(c, body.session_id)
    // As in `pr/merge.put.ts`.
    const { createPullRequest } = await import('../../../src/pull-requests/create.ts')
    const { id, url, status } = await createPullRequest(c.var.platform, session.uuid, undefined, actorOf(c))
    return { id, url, status }
  },
})
