import { expect, it } from 'vitest'
import { createTestCore, type TestCore } from '../helpers/core.ts'
import { startOnce } from '../helpers/start-once.ts'

const core = startOnce(createTestCore)

const read = async (app: TestCore['app']) => (await app.request('/api/v1/auth/config')).json()

it('answers exactly five texts, empty ones while authentication is disabled', async () => {
  expect(await read(core.app)).toEqual({
    issuer_url: '',
    client_id: '',
    audience: '',
    scope: 'openid profile email',
    artifact_metadata_header_prefix: 'x-amz-meta-',
  })
})

it('answers the effective values', async () => {
  const yaml =
    'oidc: { issuer_url: "https://issuer.example.org/", client_id: core, audience: "api://x", ' +
    'scope: "openid {client_id}" }\n' +
    'artifact_metadata_header_prefix: x-other-'
  const storage = { ...core.context.storage, metadataPrefix: 'x-ms-meta-' }
  expect(await read(await core.another({ yaml, context: { storage } }))).toEqual({
    issuer_url: expect.stringMatching(/^https:\/\/issuer\.example\.org\/?$/),
    client_id: 'core',
    audience: 'api://x',
    scope: 'openid core',
    artifact_metadata_header_prefix: 'x-ms-meta-',
  })
})
