import { createRoute, z } from '@hono/zod-openapi'
import type { CoreContext } from '../../context.ts'
import { endpoint } from '../../endpoint.ts'
import { errors, json } from '../../openapi/answers.ts'

export const AuthConfig = z
  .object({
    issuer_url: z.string().openapi({ description: 'Empty: authentication is disabled.' }),
    client_id: z.string(),
    audience: z.string(),
    scope: z.string(),
    artifact_metadata_header_prefix: z
      .string()
      .openapi({ description: 'What precedes metadata names on presigned URLs.' }),
  })
  .openapi('AuthConfig', {
    example: {
      issuer_url: '',
      client_id: '',
      audience: '',
      scope: 'openid profile email',
      artifact_metadata_header_prefix: 'x-amz-meta-',
    },
  })

/** What a public client needs to sign in. */
export function signInConfig({ config, storage }: Pick<CoreContext, 'config' | 'storage'>): z.input<typeof AuthConfig> {
  const { issuer_url, client_id, audience, scope } = config.oidc
  return { issuer_url, client_id, audience, scope, artifact_metadata_header_prefix: storage.metadataPrefix }
}

export const getAuthConfig = endpoint({
  route: createRoute({
    method: 'get',
    path: '/v1/auth/config',
    operationId: 'getAuthConfig',
    tags: ['Identity'],
    summary: 'How to sign in',
    description: 'What a public PKCE client needs. The only route that asks for no token.',
    responses: { 200: json(AuthConfig, 'The configuration.'), ...errors() },
  }),
  gates: [],
  handle: async (c) => {
    const answer = signInConfig(c.var.platform)
    return c.json(answer)
  },
})
