import { z } from '@hono/zod-openapi'
import { authorize } from '../../../src/access/authorize.ts'
import { requireUser } from '../../access.ts'
import { endpoint } from '../../endpoint.ts'
import { json, sidecarErrors } from '../../openapi/answers.ts'
import { text } from '../../validation/fields.ts'

export const AuthorizeRequest = z
  .object({
    cloud: text().describe('The target cloud.'),
    project_name: text().describe('The object of the operation; the web client sends the repository URI.'),
    environment: text().describe('The web client sends the path of the engine root; may be empty.'),
  })
  .openapi('AuthorizeRequest', {
    example: { cloud: 'aws', project_name: 'https://github.com/acme/infrastructure.git', environment: 'live/network' },
  })
export const Decision = z
  .object({
    result: z.boolean().describe('True when the caller may operate here.'),
    message: z.string(),
    portalUrl: z.string().nullable().describe('A link into the console of the cloud.'),
  })
  .openapi('Decision', { example: { result: true, message: 'Member of the group infrastructure.', portalUrl: null } })

export const postAuthorize = endpoint({
  method: 'post',
  path: '/v1/auth/authorize',
  operationId: 'postAuthorize',
  tags: ['Identity'],
  summary: 'May the caller operate here?',
  description:
    'Asks the authorization service, 15 seconds at most; a denial is an answer like any other. ' +
    'While the service is disabled, every request is granted. For every signed-in user.',
  request: { body: AuthorizeRequest },
  answer: json(Decision, 'The decision.'),
  errors: sidecarErrors('authz', 15),
  gate: requireUser,
  handle: (c, { body }) => authorize(c.var.platform, c.var.user, body),
})
