import { z } from '@hono/zod-openapi'
import { endpoint } from '../../endpoint.ts'
import type { CoreContext } from '../../env.ts'
import { json } from '../../openapi/answers.ts'

export const AuthConfig = z
  .object({
    issuer_url: z.string().describe('Empty: authentication is disabled.'),
    client_id: z.string(),
    audience: z.string(),
    scope: z.string(),
    artifact_metadata_header_prefix: z.string().describe('Prefix of metadata names on presigned URLs.'),
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

/** Returns the settings with which a public client signs in. */
export function signInConfig({ config, storage }: Pick<CoreContext, 'config' | 'storage'>): z.input<typeof AuthConfig> {
  const { issuer_url, client_id, audience, scope } = config.oidc
  return {
    ...{ issuer_url, client_id, scope },
    audience: [audience].flat()[0] ?? '',
    artifact_metadata_header_prefix: storage.metadataPrefix,
  }
}

export const getAuthConfig = endpoint({
  method: 'get',
  path: '/v1/auth/config',
  operationId: 'getAuthConfig',
  tags: ['Identity'],
  summary: 'How to sign in',
  description: 'The settings of a public PKCE client. The only route that requires no token.',
  answer: json(AuthConfig, 'The configuration.'),
  handle: async (c) => signInConfig(c.var.platform),
})
