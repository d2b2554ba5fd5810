import { describe, expect, test } from 'vitest'
import { at, load, problemsOf, yaml } from './support.ts'

const SESSION_URL = 'http.session_url must be an http:// or https:// URL with {session_id}'

describe('a field that breaks its rule is named with its section', () => {
  test.each([
    ['environment', 'qa', 'environment must be one of development, staging, production'],
    ['environment', 'Production', 'environment must be one of development, staging, production'],
    ['oidc.scope', '5', 'oidc.scope must be a string'],
    ['oidc.clock_skew_seconds', 'soon', 'oidc.clock_skew_seconds must be an integer'],
    ['oidc.clock_skew_seconds', '-1', 'oidc.clock_skew_seconds must be at least 0'],
    ['admin.default_root_email', '[a]', 'admin.default_root_email must be a string'],
    ['services.authz.enabled', 'maybe', 'services.authz.enabled must be true or false'],
    ['services.authz.enabled', '2', 'services.authz.enabled must be true or false'],
    ['services.iac.timeout', 'long', 'services.iac.timeout must be a number'],
    ['services.iac.timeout', '0', 'services.iac.timeout must be greater than 0'],
    ['services.iac.job_poll_interval', '-1', 'services.iac.job_poll_interval must be at least 0'],
    ['orchestration.max_drift_reports', 'many', 'orchestration.max_drift_reports must be an integer'],
    ['orchestration.max_drift_reports', '1.5', 'orchestration.max_drift_reports must be an integer'],
    ['orchestration.max_drift_reports', 'true', 'orchestration.max_drift_reports must be an integer'],
    ['orchestration.drift_group_operations', '0', 'orchestration.drift_group_operations must be at least 1'],
    ['llm.model', '""', 'llm.model must not be empty'],
    ['llm.timeout', '0', 'llm.timeout must be greater than 0'],
    ['llm.timeout', '-1', 'llm.timeout must be greater than 0'],
    ['llm.timeout', '.inf', 'llm.timeout must be a number'],
    ['llm.model_list', 'x', 'llm.model_list must be a list'],
    ['paths.session_plan_filename', 'a/b', 'paths.session_plan_filename must be a file name'],
    ['paths.session_plan_filename', '""', 'paths.session_plan_filename must be a file name'],
    ['paths.session_plan_filename', '"a b.plan"', 'paths.session_plan_filename must be a file name'],
    ['paths.session_plan_filename', '" a.plan"', 'paths.session_plan_filename must be a file name'],
    ['paths.session_plan_filename', 'a'.repeat(129), 'paths.session_plan_filename must be a file name'],
    ['paths.session_plan_filename', '".."', 'paths.session_plan_filename must be a file name'],
    ['paths.session_plan_filename', '"."', 'paths.session_plan_filename must be a file name'],
    ['paths.backend_override_filename', 'backend.tf', 'paths.backend_override_filename must be a file name'],
    ['paths.backend_override_filename', 'a/b_override.tf', 'paths.backend_override_filename must be a file name'],
    ['paths.backend_override_filename', '_override.tf', 'paths.backend_override_filename must be a file name'],
    ['paths.backend_override_filename', 'x_overrideXtf', 'paths.backend_override_filename must be a file name'],
    [
      'paths.backend_override_filename',
      `${'a'.repeat(129)}_override.tf`,
      'paths.backend_override_filename must be a file name',
    ],
    ['redis.socket_timeout', '0', 'redis.socket_timeout must be greater than 0'],
    ['http.cors_origins', 'http://localhost', 'http.cors_origins must be a list of non-empty strings'],
    ['http.cors_origins', '[1]', 'http.cors_origins must be a list of non-empty strings'],
    ['http.session_url', 'https://platform.example.com/sessions', SESSION_URL],
    ['http.session_url', '"ftp://example.com/{session_id}"', SESSION_URL],
    ['http.session_url', '"javascript:alert({session_id})"', SESSION_URL],
    ['http.session_url', '"https://u:p@example.com/{session_id}"', SESSION_URL],
    ['http.session_url', '"https://{session_id}.example.com/"', SESSION_URL],
    ['http.session_url', '"/sessions/{session_id}"', SESSION_URL],
    ['http.trusted_proxies', '10.0.0.0/8', 'http.trusted_proxies must be a list of non-empty strings'],
    ['http.trusted_proxies', '[proxy.internal]', 'http.trusted_proxies must be a list of IP addresses and ranges'],
    ['storage.provider', 'GCS', 'storage.provider must be one of BUNDLED, S3, STORAGE_ACCOUNT'],
    ['storage.provider', 'Bundled', 'storage.provider must be one of BUNDLED, S3, STORAGE_ACCOUNT'],
    ['storage.engine_state_filename', 'a/b', 'storage.engine_state_filename must be a file name'],
    ['storage.terraform_state_filename', '""', 'storage.engine_state_filename must be a file name'],
    ['storage.presign_expiry_seconds', '172800.5', 'storage.presign_expiry_seconds must be an integer'],
    ['git.provider', '""', 'git.provider must be one of GITHUB, AZURE_DEVOPS, GITLAB'],
    ['git.provider', 'github', 'git.provider must be one of GITHUB, AZURE_DEVOPS, GITLAB'],
    ['git.provider', 'provider_a', 'git.provider must be one of GITHUB, AZURE_DEVOPS, GITLAB'],
    ['git.provider', 'git.example.com', 'git.provider must be one of GITHUB, AZURE_DEVOPS, GITLAB'],
    ['git.base_url', 'http://git.example.com', 'git.base_url must be https://<host>[:port]'],
    ['git.base_url', 'https://git.example.com//sub', 'git.base_url must be https://<host>[:port][/<path>]'],
    ['git.base_url', 'https://git.example.com/sub?x=1', 'git.base_url must be https://<host>[:port][/<path>]'],
    ['git.base_url', 'https://u:p@git.example.com', 'git.base_url must be https://<host>[:port]'],
    ['git.api_url', 'git.example.com/api', 'git.api_url must be an http:// or https:// URL'],
    ['worker.concurrency', '-1', 'worker.concurrency must be at least 0'],
    ['audit.retention_days', '-1', 'audit.retention_days must be at least 0'],
  ])('%s: %s', async (path, value, text) => {
    expect(await problemsOf(yaml(path, value))).toEqual([expect.stringContaining(text)])
  })

  test.each([
    'oidc.scope',
    'services.iac.endpoint',
    'llm.model_list',
    'orchestration.max_drift_reports',
    'http.cors_origins',
  ])('%s without a value (null) fails', async (path) => {
    expect(await problemsOf(yaml(path, ''))).toEqual([expect.stringContaining(`${path} must be`)])
  })

  test.each([
    ['oidc', 'oidc: 5'],
    ['services', 'services: [iac]'],
    ['services.authz', 'services: {authz: true}'],
  ])('%s that is no mapping fails once', async (name, file) => {
    expect(await problemsOf(file)).toEqual([`${name} must be a mapping`])
  })

  test('refused values are not repeated', async () => {
    const texts = await problemsOf(
      'storage: {access_key_env: [hunter2secret], max_attempts: hunter2secret}\ngit: {provider: hunter2secret}',
    )
    expect(texts).toHaveLength(3)
    expect(texts.join()).not.toContain('hunter2secret')
  })
})

describe('YAML dialects', () => {
  test.each(['true', 'yes', 'on', 'True', 'YES', '"true"', '1', '"1"', 'y'])('%s is true', async (word) => {
    expect((await load(yaml('telemetry.otel_console_exporter', word))).telemetry.otel_console_exporter).toBe(true)
  })
  test.each(['false', 'no', 'off', 'OFF', '"no"', '0'])('%s is false', async (word) => {
    expect((await load(yaml('telemetry.otel_console_exporter', word))).telemetry.otel_console_exporter).toBe(false)
  })
  test.each([
    ['orchestration.max_drift_reports', '"5"', 5],
    ['orchestration.max_drift_reports', '5.0', 5],
    ['llm.timeout', '"1.5"', 1.5],
    ['llm.timeout', '1e2', 100],
  ])('%s: %s is a number', async (path, value, loaded) => {
    expect(at(await load(yaml(path, value)), path)).toBe(loaded)
  })
})

describe('enumerations take member names and values', () => {
  test.each(['development', 'staging', 'production'])('environment %s', async (name) => {
    expect((await load(`environment: ${name}`)).environment).toBe(name)
    expect((await load(`environment: ${name.toUpperCase()}`)).environment).toBe(name)
  })
  test('an environment is a label: production without an issuer loads, authentication stays disabled', async () => {
    expect((await load('environment: production')).oidc.issuer_url).toBe('')
  })
})

describe('all errors at once', () => {
  const BAD =
    'storage: {provider: GCS, max_attempts: x}\ngit: {provider: ""}\noidc: {issuer_url: "https://idp.example.com"}'

  test('bad sections and missing credentials are reported together', async () => {
    const texts = await problemsOf(BAD, {
      ANTHROPIC_API_KEY: undefined,
      PLATFORM_SQL_DATABASE_URL: '',
      PLATFORM_IAC_TOKEN: '',
    })
    expect(texts).toEqual([
      expect.stringMatching(/^oidc\.issuer_url is set but oidc\.client_id is empty/),
      expect.stringMatching(/^LLM credentials missing from environment: ANTHROPIC_API_KEY\./),
      'Missing env variable for platform database',
      expect.stringMatching(/^storage\.provider must be one of/),
      'storage.max_attempts must be an integer',
      expect.stringMatching(/^git\.provider must be one of/),
    ])
  })

  test('the token check comes once everything else holds', async () => {
    const env = { PLATFORM_IAC_TOKEN: '' }
    expect((await problemsOf('environment: qa', env)).join()).not.toContain('services.iac')
    expect((await problemsOf('environment: staging', env)).join()).toContain('services.iac → $PLATFORM_IAC_TOKEN')
  })

  test('a model that cannot be read does not blame the credentials of the default one', async () => {
    const texts = await problemsOf('llm: {model: 5, small_model: foo/bar}', { ANTHROPIC_API_KEY: undefined })
    expect(texts).toEqual([expect.stringContaining('llm.model must be a string')])
  })

  test('the message is all problems, a line each', async () => {
    await expect(load('environment: qa\nworker: {concurrency: -1}')).rejects.toThrow(
      'environment must be one of development, staging, production\nworker.concurrency must be at least 0',
    )
  })
})
