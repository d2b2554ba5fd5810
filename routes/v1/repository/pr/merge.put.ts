import { z } from '@hono/zod-openapi'
import { actorOf, requireOperation, requireOwnRepository } from '../../../access.ts'
import { endpoint } from '../../../endpoint.ts'
import { type ErrorAnswer, errorAnswer, GIT_HOST_ERRORS, repositoryForbidden } from '../../../openapi/answers.ts'
import { MergeError } from '../../../schemas/readiness.ts'
import { SessionReference } from '../../../schemas/session.ts'

/** Lets an error say what stands in the way of the merge. */
const explained = (error: ErrorAnswer): ErrorAnswer => ({
  ...error,
  schema: error.schema ? z.union([MergeError, error.schema]) : MergeError,
})

export const putMerge = endpoint({
  method: 'put',
  path: '/v1/repository/pr/merge',
  operationId: 'putMerge',
  tags: ['Repository'],
  summary: 'Merge the pull request',
  description:
    'Merges the most recently opened pull request of the session into the default branch, provided that its ' +
    'branch is at the commit with which the last completed round ended. One that is merged there already is a ' +
    'success. When the git host refuses, `readiness` says what stands in the way. ' +
    'Answers within 50 seconds. For operation role developer or higher and the owner of the session.',
  request: { body: SessionReference },
  answer: { status: 204, description: 'The pull request is merged.' },
  errors: [
    ...GIT_HOST_ERRORS.map(explained),
    repositoryForbidden('developer'),
    ...[
      errorAnswer(
        404,
        'Unknown session, or one without pull requests.',
        'Session 5f0c3b0e-8f57-4a52-9f0b-0d9f3c1f7a11 not found.',
        'Session 5f0c3b0e-8f57-4a52-9f0b-0d9f3c1f7a11 has no pull requests.',
      ),
      errorAnswer(
        409,
        'The session is locked, a round of it runs, its last round failed, none has completed, or the branch ' +
          'holds code that was not reviewed; or the git host sees a conflict.',
        'Session 5f0c3b0e-8f57-4a52-9f0b-0d9f3c1f7a11 is blocked; PR merge is not allowed.',
        'A round of session 5f0c3b0e-8f57-4a52-9f0b-0d9f3c1f7a11 is running; ' +
          'PR merge is not allowed until it has completed.',
        'The last round of session 5f0c3b0e-8f57-4a52-9f0b-0d9f3c1f7a11 failed; PR merge is not allowed. ' +
          'Begin a new session.',
        'No round of session 5f0c3b0e-8f57-4a52-9f0b-0d9f3c1f7a11 has completed; PR merge is not allowed.',
        'Pull Request 12 holds code that was not reviewed: its branch is not at commit 6dcb09b5b578, with which ' +
          'the last completed round ended. PR merge is not allowed; run another round first.',
      ),
      errorAnswer(
        504,
        'The git host did not answer in time.',
        'Complete PR timeout',
        'Pull Request 12 readiness polling exhausted.',
      ),
    ].map(explained),
  ],
  gate: requireOperation('developer'),
  handle: async (c, { body }) => {
    const { uuid } = await requireOwnRepository(c, body.session_id)
    // Pull requests bring plans, evidence and the clients of three git hosts, which an idle core does without.
    const { mergePullRequest } = await import('../../../../src/pull-requests/merge.ts')
    await mergePullRequest(c.var.platform, uuid, undefined, actorOf(c))
    return c.body(null, 204)
  },
})
