import { z } from '@hono/zod-openapi'
import { CLOUDS } from '../../src/sessions/types.ts'
import { optional, repositoryPath, repositoryUri, text, uuid, withRule } from '../validation/fields.ts'

/** Keys of a request to run a round; unknown ones are ignored, null says absent. */
export const iacFields = {
  q: text({ min: 1 }).openapi({ description: 'The request, in plain words.', example: 'Add a private bucket for build logs.' }),
  repo_uri: optional(repositoryUri()).openapi({ description: 'First call only.', example: 'https://github.com/acme/infrastructure.git' }),
  scope_id: optional(text({ min: 1, max: 1016 })).openapi({
    description: 'First call: required. Subscription, project, account or compartment; any stable name for kubernetes.',
    example: 'acme-production',
  }),
  engine_providers: optional(z.enum(CLOUDS)).openapi({ description: 'First call: required. The cloud to work on.', example: 'aws' }),
  iac_path: optional(repositoryPath()).openapi({
    description: 'First call only: the engine root inside the repository. Default: the repository root.',
    example: 'live/network',
  }),
  session_id: optional(uuid()).openapi({ description: 'Continues this session; instead of `repo_uri`.' }),
}

interface IacKeys {
  repo_uri?: string
  scope_id?: string
  engine_providers?: string
  iac_path?: string
  session_id?: string
}

/** The rules over several keys, in the order in which they are reported. */
export function iacRule(body: IacKeys): string | null {
  if ((body.repo_uri === undefined) === (body.session_id === undefined))
    return 'Exactly one of `repo_uri` or `session_id` must be provided.'
  if (body.session_id !== undefined)
    return body.iac_path === undefined ? null : 'iac_path is set only on the first call; iteration calls inherit it from the session.'
  if (body.engine_providers === undefined) return 'First call (repo_uri) requires `engine_providers`.'
  if (body.scope_id === undefined) return 'First call (repo_uri) requires `scope_id`.'
  return null
}

export const GenerateRequest = withRule(z.object(iacFields), iacRule).openapi('GenerateRequest', {
  example: {
    q: 'Add a private bucket for build logs.',
    repo_uri: 'https://github.com/acme/infrastructure.git',
    scope_id: 'acme-production',
    engine_providers: 'aws',
    iac_path: 'live/network',
  },
})
