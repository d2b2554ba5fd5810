import { expect, test } from 'vitest'
import { at, load, yaml } from './support.ts'

/** Path, value as YAML and loaded value. Values that load unchanged are in the documentation. */
test.each([
  ['oidc.issuer_url', 'https://idp.example.com/realm/\n  client_id: web', 'https://idp.example.com/realm'],
  ['oidc.clock_skew_seconds', '0', 0],
  ['services.iac.endpoint', 'http://127.0.0.1:9/', 'http://127.0.0.1:9'],
  ['services.iac.timeout', '1.5', 1.5],
  ['services.authz.endpoint', 'http://other:1/', 'http://other:1'],
  ['llm.model_list', '[]', []],
  ['http.trusted_proxies', '[10.0.0.0/8, " ::1"]', ['10.0.0.0/8', '::1']],
  ['storage.engine_state_bucket', '" state "', 'state'],
  ['storage.public_endpoint_url', 'https://files.example.com/', 'https://files.example.com'],
  ['git.base_url', 'https://git.example.com:8443/', 'https://git.example.com:8443'],
  ['git.api_url', 'https://git.example.com/api/v3/', 'https://git.example.com/api/v3'],
  ['git.allow_private_hosts', '[LOCALHOST:8443]', ['localhost:8443']],
  ['worker.max_restarts', '0', 0],
])('%s: %s is loaded as %j', async (path, value, loaded) => {
  expect(at(await load(yaml(path, value)), path)).toEqual(loaded)
})

test('a configuration without a file needs only the mandatory variables', async () => {
  const config = await load()
  expect(config.redis.url).toBe('redis://redis:6379/0')
  expect(config.git.host).toBe('github.com')
})

test('the version comes from APP_VERSION', async () => {
  expect((await load()).version).toBe('0.0.0-dev')
  expect((await load(null, { APP_VERSION: '' })).version).toBe('0.0.0-dev')
  expect((await load(null, { APP_VERSION: '1.4.2' })).version).toBe('1.4.2')
})
