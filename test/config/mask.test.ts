import { describe, expect, test } from 'vitest'
import { runCheckConfig } from '../../config/check.ts'
import { maskedConfig, secretsOf } from '../../config/mask.ts'
import { at, load, MINIMAL } from './support.ts'

const SECRETS = {
  PLATFORM_SQL_DATABASE_URL: 'postgresql://platform:p%40ss-db@db:5432/platform?sslpassword=pem-secret',
  PLATFORM_REDIS_URL: 'https://cache-token@cache.example.com',
  PLATFORM_IAC_TOKEN: 'iac-secret',
  AUTHZ: 'authz-secret',
  ANTHROPIC_API_KEY: 'sk-ant-secret',
  OPENAI_API_KEY: 'sk-openai-secret',
  OPENAI_BASE_URL: 'https://models.example.com/v1',
  CUSTOM: 'custom-secret',
  BUNDLED_ACCESS_KEY: 'access-secret',
  BUNDLED_SECRET_KEY: 'secret-secret',
  GIT_USER: 'bot',
  GIT_TOKEN: 'pat-secret',
}
const FILE = `
services: {authz: {enabled: true, endpoint: "http://user:authz-url-secret@authz", token_env: AUTHZ}}
telemetry: {collector_url: "http://collector/?api_key=collector-secret"}
llm:
  model: large
  small_model: large
  model_list:
    - model_name: large
      litellm_params: {model: openai/gpt, api_key: os.environ/CUSTOM, max_tokens: 5, extra_headers: {Authorization: inline-secret}}
`
const literals = [
  'p%40ss-db',
  'p@ss-db',
  'pem-secret',
  'cache-token',
  'iac-secret',
  'authz-secret',
  'authz-url-secret',
  'collector-secret',
  'sk-ant-secret',
  'sk-openai-secret',
  'custom-secret',
  'inline-secret',
  'access-secret',
  'secret-secret',
  'pat-secret',
]

describe('masking', () => {
  test('no secret is shown, everything else is', async () => {
    const shown = maskedConfig(await load(FILE, SECRETS))
    for (const secret of literals) expect(JSON.stringify(shown)).not.toContain(secret)
    expect(at(shown, 'database.url')).toBe('postgresql://platform:***@db:5432/platform?sslpassword=***')
    expect(at(shown, 'redis.url')).toBe('https://***@cache.example.com')
    expect(at(shown, 'services.iac.token')).toBe('***')
    expect(at(shown, 'services.mapping.token')).toBe('')
    expect(at(shown, 'git.user')).toBe('bot')
    expect(at(shown, 'llm.credentials.OPENAI_BASE_URL')).toBe('https://models.example.com/v1')
    expect(at(shown, 'llm.model_list.0.litellm_params')).toEqual({
      model: 'openai/gpt',
      api_key: 'os.environ/CUSTOM',
      max_tokens: 5,
      extra_headers: { Authorization: '***' },
    })
    expect(at(shown, 'llm.max_output_tokens')).toBe(32000)
    expect(at(shown, 'services.authz.token_env')).toBe('AUTHZ')
  })

  test('the log learns every secret and nothing else', async () => {
    expect(secretsOf(await load(FILE, SECRETS)).sort()).toEqual([...literals].sort())
  })

  test.each([
    ['postgresql://platform@db/x', 'postgresql://platform@db/x', []],
    ['postgresql://u:pw@db/x', 'postgresql://u:***@db/x', ['pw']],
    ['postgresql://u:p@ss:w@db/x', 'postgresql://u:***@db/x', ['p@ss:w']],
    ['postgresql://db/x?user=u&password=pw', 'postgresql://db/x?user=u&password=***', ['pw']],
    ['postgresql://db/x', 'postgresql://db/x', []],
  ])('database %s', async (url, shown, secrets) => {
    const config = await load('storage: {provider: S3}', { PLATFORM_SQL_DATABASE_URL: url })
    expect(at(maskedConfig(config), 'database.url')).toBe(shown)
    expect(secretsOf(config).filter((secret) => !['iac-token', 'anthropic-key'].includes(secret))).toEqual(secrets)
  })

  test.each([
    ['redis://:pw@cache', 'redis://:***@cache'],
    ['rediss://default:pw@cache', 'rediss://default:***@cache'],
    ['https://default:pw@cache', 'https://default:***@cache'],
    ['https://token@cache', 'https://***@cache'],
  ])('cache %s', async (url, shown) => {
    expect(at(maskedConfig(await load(null, { PLATFORM_REDIS_URL: url })), 'redis.url')).toBe(shown)
  })

  test('unset secrets are no secrets', async () => {
    expect(secretsOf(await load('storage: {provider: S3}', { ANTHROPIC_API_KEY: '' })).sort()).toEqual([
      'iac-token',
      'pg-secret',
    ])
  })
})

describe('--check-config', () => {
  const check = async (file: string | null, env: Record<string, string | undefined>) => {
    const written: string[] = []
    const code = await runCheckConfig(
      env,
      async () => file,
      (text) => written.push(text),
      async () => [],
    )
    return { code, output: written.join('') }
  }

  test('prints the effective configuration that still loads as YAML', async () => {
    const { code, output } = await check(FILE, SECRETS)
    expect(code).toBe(0)
    expect(output).toContain('# configuration file found\n')
    expect(output).toMatch(/^ {2}scope: openid profile email$/m)
    expect(output).toMatch(/^ {2}max_validation_iteration: 8$/m)
    for (const secret of literals) expect(output).not.toContain(secret)
  })

  test('says when the built-in defaults apply, and what is worth knowing', async () => {
    const { code, output } = await check(null, MINIMAL)
    expect(code).toBe(0)
    expect(output).toContain('# no configuration file: built-in defaults\n')
    expect(output).toContain('# warning: oidc.issuer_url is empty')
    expect(output).toContain('# warning: git user or token is unset')
  })

  test.each([
    ['state bucket', 'storage: {engine_state_bucket: ""}', 'storage.engine_state_bucket is empty'],
    ['collector', 'telemetry: {collector_url: "http://c:6006"}', 'telemetry.collector_url does not end in "/"'],
    [
      'endpoint',
      'services: {authz: {enabled: true, token_env: PLATFORM_IAC_TOKEN}}',
      'services.authz is enabled without an endpoint',
    ],
  ])('warns about the %s', async (_name, file, text) => {
    expect((await check(file, MINIMAL)).output).toContain(`# warning: ${text}`)
  })

  test('says which fields are read and have no effect', async () => {
    const { output } = await check('services: {authz: {timeout: 3}, mapping: {timeout: 7}}', MINIMAL)
    expect(output).toMatch(/^ {4}timeout: 3 # ignored: authorization calls have a fixed budget of 15 s$/m)
    expect(output).toMatch(/^ {4}timeout: 7 # ignored: mapping calls have a fixed budget of 10 s$/m)
    expect(output.match(/ignored/g)).toHaveLength(2)
  })

  test('prints every problem and fails', async () => {
    const { code, output } = await check('environment: qa\ngit: {provider: github}', {})
    expect(code).toBe(1)
    expect(output.trim().split('\n')).toHaveLength(4)
    expect(output).toContain('Missing env variable for platform database\n')
  })

  test('prints the token check as well', async () => {
    const { code, output } = await check(null, { ...MINIMAL, PLATFORM_IAC_TOKEN: '' })
    expect(code).toBe(1)
    expect(output).toContain('services.iac → $PLATFORM_IAC_TOKEN')
  })
})
