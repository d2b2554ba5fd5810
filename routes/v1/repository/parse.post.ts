import { z } from '@hono/zod-openapi'
import { requireSomeAuthorization } from '../../../src/access/authorize.ts'
import { CLOUDS } from '../../../src/base/vocabulary.ts'
import { ROOT_KINDS } from '../../../src/repository/roots/classify.ts'
import { TOOLS } from '../../../src/repository/roots/tools.ts'
import { requireOperation } from '../../access.ts'
import { endpoint } from '../../endpoint.ts'
import { errorAnswer, json, repositoryRefusals, UNREACHABLE } from '../../openapi/answers.ts'
import { repositoryUri } from '../../validation/fields.ts'

export const ParseRequest = z
  .object({ repo_uri: repositoryUri().openapi({ example: 'https://github.com/acme/infrastructure.git' }) })
  .openapi('ParseRequest', { example: { repo_uri: 'https://github.com/acme/infrastructure.git' } })
export const Roots = z
  .object({
    roots: z
      .array(z.string())
      .describe('Roots by the names of files. Paths from the repository root, which itself is `.`.'),
    root_modules: z
      .array(z.object({ path: z.string(), kind: z.enum(ROOT_KINDS) }))
      .nullable()
      .describe('Roots by the blocks in files, examples and tests last. Null when the files could not be fetched.'),
    unread_files: z
      .int()
      .min(0)
      .describe(
        'Files of code that could not be read. Unless it is 0, `root_modules` may be wrong about their folders.',
      ),
    providers: z
      .array(z.object({ source: z.string(), cloud: z.enum(CLOUDS).nullable() }))
      .nullable()
      .describe(
        'Providers of the code, by source, each with the cloud that it is of, or null. Null when the files could not be fetched.',
      ),
    tools: z
      .array(z.enum(TOOLS))
      .describe('Tools besides the engine whose files the repository holds. The platform does not run them.'),
  })
  .openapi('Roots', {
    example: {
      roots: ['.', 'live/network'],
      root_modules: [
        { path: '.', kind: 'root' },
        { path: 'live/network', kind: 'root' },
        { path: 'examples/complete', kind: 'example' },
      ],
      unread_files: 0,
      providers: [
        { source: 'hashicorp/aws', cloud: 'aws' },
        { source: 'hashicorp/random', cloud: null },
      ],
      tools: ['terragrunt'],
    },
  })

export const postParse = endpoint({
  method: 'post',
  path: '/v1/repository/parse',
  operationId: 'postParse',
  tags: ['Repository'],
  summary: 'Find engine roots',
  description:
    'The directories of the default branch that look like roots of the engine: `roots` by the names of files, `root_modules` by their contents. Answers within 50 seconds.',
  request: { body: ParseRequest },
  answer: json(Roots, 'The roots.'),
  errors: [
    UNREACHABLE,
    ...repositoryRefusals('developer'),
    errorAnswer(
      502,
      'The clone took too long or could not be read; or the authorization service could not be asked.',
      'Repository is not reachable or access was denied.',
      'authz service unreachable: the connection failed',
    ),
    errorAnswer(
      503,
      'Other repositories are being read; `Retry-After` says after how many seconds to ask again.',
      'Too many repositories are being read at this moment; please try again in 10 seconds.',
    ),
  ],
  gate: requireOperation('developer'),
  handle: async (c, { body }) => {
    const { platform, user } = c.var
    await requireSomeAuthorization(platform, user, body.repo_uri)
    const { signal } = c.req.raw
    const read = async () => {
      // It brings libraries for git and zlib, which many cores never need.
      const { findRootModules } = await import('../../../src/repository/root-modules.ts')
      return await findRootModules(platform, body.repo_uri, signal)
    }
    const { roots, rootModules, unreadFiles, providers, tools } = await platform.repositoryGate.run(read, signal)
    return { roots, root_modules: rootModules, unread_files: unreadFiles, providers, tools }
  },
})
