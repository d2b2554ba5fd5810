import { z } from '@hono/zod-openapi'
import { CLOUDS } from '../../../src/base/vocabulary.ts'
import { resolveRepository } from '../../../src/services/mapping.ts'
import { requireUser } from '../../access.ts'
import { endpoint } from '../../endpoint.ts'
import { json, sidecarErrors } from '../../openapi/answers.ts'
import { optional, text } from '../../validation/fields.ts'

export const MappingRequest = z
  .strictObject({
    identifier: text({ min: 1, max: 1024 }).describe('A repository, in the words of the catalogue.'),
    engine_provider: optional(z.enum(CLOUDS)).describe('The cloud, where it is known already.'),
  })
  .openapi('MappingRequest', { example: { identifier: 'acme/infrastructure', engine_provider: 'aws' } })
export const MappingAnswer = z
  .object({
    repo_url: z.string(),
    identifier: z.string().describe('As it was asked for.'),
    engine_provider: z.enum(CLOUDS).nullable().describe('null: unknown.'),
    scope_id: z.string().nullable().describe('null: unknown.'),
  })
  .openapi('MappingAnswer', {
    example: {
      repo_url: 'https://github.com/acme/infrastructure.git',
      identifier: 'acme/infrastructure',
      engine_provider: 'aws',
      scope_id: 'acme-production',
    },
  })

export const postResolve = endpoint({
  method: 'post',
  path: '/v1/mapping/resolve',
  operationId: 'postResolve',
  tags: ['Repository'],
  summary: 'Find a repository',
  description:
    'Asks the mapping service, 10 seconds at most, for the repository behind an identifier, its cloud and its ' +
    'scope. While the service is disabled the identifier stands for itself. Keys that are not listed are refused. ' +
    'For every signed-in user.',
  request: { body: MappingRequest },
  answer: json(MappingAnswer, 'What is known.'),
  errors: sidecarErrors('mapping', 10),
  gate: requireUser,
  handle: (c, { body }) => resolveRepository(c.var.platform, body),
})
