import { describe, expect, test } from 'vitest'
import { at, load, MINIMAL, yaml } from './support.ts'

/** Path, code default, another value as YAML (empty: not a field of the file), that value as loaded. */
const FIELDS: [string, unknown, string, unknown][] = [
  ['environment', 'development', 'production', 'production'],
  ['oidc.issuer_url', '', 'https://idp.example.com/realm/', 'https://idp.example.com/realm'],
  ['oidc.client_id', '', 'web', 'web'],
  ['oidc.audience', '', 'api', 'api'],
  ['oidc.scope', 'openid profile email', 'openid', 'openid'],
  ['oidc.clock_skew_seconds', 60, '0', 0],
  ['admin.default_root_email', '', 'root@example.com', 'root@example.com'],
  ['services.iac.endpoint', 'http://iac:8082', 'http://127.0.0.1:9/', 'http://127.0.0.1:9'],
  ['services.iac.token_env', 'PLATFORM_IAC_TOKEN', 'ANTHROPIC_API_KEY', 'ANTHROPIC_API_KEY'],
  ['services.iac.timeout', 30, '1.5', 1.5],
  ['services.iac.job_poll_interval', 5, '0.2', 0.2],
  ['services.iac.job_timeout', 3600, '7', 7],
  ...['notifications', 'mapping', 'authz'].flatMap((name): [string, unknown, string, unknown][] => [
    [`services.${name}.enabled`, false, 'false', false],
    [`services.${name}.endpoint`, '', 'http://other:1/', 'http://other:1'],
    [`services.${name}.token_env`, '', 'OTHER', 'OTHER'],
    [`services.${name}.timeout`, 30, '2', 2],
  ]),
  ['orchestration.enable_compliance_checker', false, 'true', true],
  ['orchestration.block_on_high_impact', false, 'true', true],
  ['orchestration.max_drift_reports', 3, '1', 1],
  ['orchestration.max_validation_iteration', 8, '2', 2],
  ['orchestration.max_import_iteration', 5, '1', 1],
  ['orchestration.max_tool_agent_executions', 40, '3', 3],
  ['orchestration.max_session_events_iteration', 2160, '1', 1],
  ['orchestration.drift_group_operations', 8, '2', 2],
  ['orchestration.pull_request_readiness_seconds', 10, '2', 2],
  ['llm.model', 'anthropic/claude-sonnet-5', 'foo/bar', 'foo/bar'],
  ['llm.small_model', 'anthropic/claude-haiku-4-5', 'foo/bar', 'foo/bar'],
  ['llm.web_search_model', '', 'foo/search', 'foo/search'],
  ['llm.temperature', 0.1, '0.7', 0.7],
  ['llm.max_output_tokens', 32000, '1000', 1000],
  ['llm.context_tokens', 0, '32768', 32768],
  ['llm.record_folder', '', 'recordings', 'recordings'],
  ['llm.timeout', 600, '0.5', 0.5],
  ['llm.model_list', [], '[]', []],
  ['paths.upload_folder', '/workspaces', '/data/work', '/data/work'],
  ['paths.git_folder', '', '/data/git', '/data/git'],
  ['paths.session_plan_filename', 'session.plan', 'session.out', 'session.out'],
  ['paths.backend_override_filename', 'backend_override.tf', 'x_override.tf', 'x_override.tf'],
  ['database.platform_database_url_env', 'PLATFORM_SQL_DATABASE_URL', 'PLATFORM_IAC_TOKEN', 'PLATFORM_IAC_TOKEN'],
  ['redis.redis_url_env', 'PLATFORM_REDIS_URL', 'CACHE', 'CACHE'],
  ['redis.url', 'redis://redis:6379/0', '', 'redis://redis:6379/0'],
  ['redis.max_connections', 20, '5', 5],
  ['redis.socket_connect_timeout', 2, '0.3', 0.3],
  ['redis.socket_timeout', 2, '0.3', 0.3],
  ['redis.pool_timeout', 2, '0.3', 0.3],
  ['telemetry.collector_url', 'http://phoenix:6006/', 'http://collector:6006', 'http://collector:6006'],
  ['telemetry.otel_attribute_count_limit', 1024, '2', 2],
  ['telemetry.otel_console_exporter', false, 'true', true],
  [
    'http.cors_origins',
    ['http://localhost'],
    '[http://localhost:3000, http://b]',
    ['http://localhost:3000', 'http://b'],
  ],
  ['http.trusted_proxies', [], '[10.0.0.0/8, " ::1"]', ['10.0.0.0/8', '::1']],
  ['storage.provider', 'BUNDLED', 'S3', 'S3'],
  ['storage.bucket', 'platform-artifacts', 'mine', 'mine'],
  ['storage.engine_state_bucket', 'platform-terraform-state', '" state "', 'state'],
  ['storage.engine_state_filename', 'terraform.tfstate', 'default.tfstate', 'default.tfstate'],
  ['storage.endpoint_url', 'http://object-storage:9000', 'http://s3:1/', 'http://s3:1'],
  ['storage.public_endpoint_url', 'http://localhost:9000', 'https://files.example.com/', 'https://files.example.com'],
  ['storage.region', 'us-east-1', 'eu-west-1', 'eu-west-1'],
  ['storage.connect_timeout', 3, '0.5', 0.5],
  ['storage.read_timeout', 10, '0.5', 0.5],
  ['storage.max_attempts', 3, '1', 1],
  ['storage.presign_expiry_seconds', 172800, '108000', 108000],
  ['git.provider', 'GITHUB', 'GITLAB', 'GITLAB'],
  ['git.host', 'github.com', '', 'github.com'],
  ['git.author_name', 'Platform', 'Robot', 'Robot'],
  ['git.author_email', 'platform@noreply.invalid', 'robot@example.com', 'robot@example.com'],
  ['git.base_url', '', 'https://git.example.com:8443/', 'https://git.example.com:8443'],
  ['git.api_url', '', 'https://git.example.com/api/v3/', 'https://git.example.com/api/v3'],
  ['git.ca_file', '', '/ca.pem', '/ca.pem'],
  ['git.allow_private_hosts', [], '[LOCALHOST:8443]', ['localhost:8443']],
  ['git.max_clone_mib', 2048, '100', 100],
  ['git.max_clone_files', 200000, '5000', 5000],
  ['worker.concurrency', 4, '1', 1],
  ['worker.max_restarts', 3, '0', 0],
  ['audit.retention_days', 0, '365', 365],
]

/** Set together with a field so that the rest of the file holds. */
const COMPANION: Record<string, string> = { 'oidc.issuer_url': 'client_id: web' }

describe('code defaults, without a file', () => {
  test.each(FIELDS)('%s', async (path, fallback) => {
    expect(at(await load(), path)).toEqual(fallback)
  })
  test('only the mandatory variables are needed', async () => {
    expect(Object.keys(MINIMAL)).toEqual(['PLATFORM_SQL_DATABASE_URL', 'PLATFORM_IAC_TOKEN', 'ANTHROPIC_API_KEY'])
    await expect(load()).resolves.toBeDefined()
  })
})

describe('a configured value replaces the default', () => {
  test.each(FIELDS.filter(([, , value]) => value !== ''))('%s', async (path, _fallback, value, loaded) => {
    const companion = COMPANION[path]
    const file = companion === undefined ? yaml(path, value) : `${yaml(path, value)}\n  ${companion}`
    expect(at(await load(file), path)).toEqual(loaded)
  })
})

test('the version comes from APP_VERSION', async () => {
  expect((await load()).version).toBe('0.0.0-dev')
  expect((await load(null, { APP_VERSION: '' })).version).toBe('0.0.0-dev')
  expect((await load(null, { APP_VERSION: '1.4.2' })).version).toBe('1.4.2')
})
