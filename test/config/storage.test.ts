import { describe, expect, test } from 'vitest'
import { configWarnings } from '../../config/check.ts'
import { maskedConfig, secretsOf } from '../../config/mask.ts'
import { load, problemsOf, yaml } from './support.ts'

describe('provider', () => {
  test.each([
    ['BUNDLED', 'BUNDLED'],
    ['bundled', 'BUNDLED'],
    ['S3', 'S3'],
    ['s3', 'S3'],
  ])('%s', async (spelled, provider) => {
    expect((await load(yaml('storage.provider', spelled))).storage.provider).toBe(provider)
  })
})

describe('state bucket', () => {
  test.each([
    ['absent', 'storage: {}', 'platform-terraform-state'],
    ['named', 'storage: {engine_state_bucket: mine}', 'mine'],
    ['older spelling', 'storage: {terraform_state_bucket: mine}', 'mine'],
    ['both spellings', 'storage: {terraform_state_bucket: older, engine_state_bucket: mine}', 'mine'],
    ['empty', 'storage: {engine_state_bucket: ""}', ''],
    ['blank', 'storage: {engine_state_bucket: "  "}', ''],
    ['older spelling, empty', 'storage: {terraform_state_bucket: ""}', ''],
    ['empty beats the older spelling', 'storage: {terraform_state_bucket: older, engine_state_bucket: ""}', ''],
  ])('%s', async (_name, file, bucket) => {
    expect((await load(file)).storage.engine_state_bucket).toBe(bucket)
  })
  test.each(['engine_state_bucket', 'terraform_state_bucket'])('a bare %s fails', async (key) => {
    expect(await problemsOf(`storage:\n  ${key}:\n`)).toEqual([
      expect.stringMatching(/^storage\.engine_state_bucket must be a string .*; the key has no value$/),
    ])
  })
  test('the state file name has two spellings', async () => {
    expect((await load('storage: {terraform_state_filename: a.tfstate}')).storage.engine_state_filename).toBe(
      'a.tfstate',
    )
  })
})

describe('keys', () => {
  const both = (config: { storage: { access_key: string; secret_key: string } }) => [
    config.storage.access_key,
    config.storage.secret_key,
  ]

  test.each([
    ['none', {}, ['bundledadmin', 'bundledadmin']],
    ['both', { BUNDLED_ACCESS_KEY: 'a', BUNDLED_SECRET_KEY: 'b' }, ['a', 'b']],
    ['older names', { RUSTFS_ACCESS_KEY: 'a', RUSTFS_SECRET_KEY: 'b' }, ['a', 'b']],
    [
      'both names',
      { BUNDLED_ACCESS_KEY: 'new', RUSTFS_ACCESS_KEY: 'old', BUNDLED_SECRET_KEY: '', RUSTFS_SECRET_KEY: 'old' },
      ['new', 'old'],
    ],
    ['empty', { BUNDLED_ACCESS_KEY: '', BUNDLED_SECRET_KEY: '' }, ['', '']],
    ['one empty', { BUNDLED_ACCESS_KEY: 'a', BUNDLED_SECRET_KEY: '' }, ['a', '']],
  ])('BUNDLED, %s', async (_name, env, expected) => {
    expect(both(await load(null, env))).toEqual(expected)
  })

  test('the variables can be named; the older names then do not apply', async () => {
    const file = 'storage: {access_key_env: A, secret_key_env: B}'
    expect(both(await load(file, { A: 'a', B: 'b', RUSTFS_ACCESS_KEY: 'x' }))).toEqual(['a', 'b'])
    expect(both(await load(file, { RUSTFS_ACCESS_KEY: 'x' }))).toEqual(['bundledadmin', 'bundledadmin'])
  })

  test('S3 without keys loads and has none: the default credential chain applies', async () => {
    expect(both(await load('storage: {provider: S3}'))).toEqual(['', ''])
  })
})

describe('STORAGE_ACCOUNT', () => {
  const file = (endpoint: string) => `storage: {provider: storage_account, endpoint_url: "${endpoint}"}`
  const env = { STORAGE_ACCOUNT_KEY: 'key' }
  const refusal = (endpoint: string) =>
    'storage.endpoint_url must be an account blob endpoint (https://<account>.blob.core.windows.net) when ' +
    `storage.provider is STORAGE_ACCOUNT; cannot derive an account name from '${endpoint}'.`

  test.each([
    ['https://acme.blob.core.windows.net', 'acme'],
    ['https://acme.blob.core.windows.net/', 'acme'],
    ['https://acme.blob.storage.azure.net', 'acme'],
    ['http://127.0.0.1:10000/devaccount', 'devaccount'],
    ['http://127.0.0.1:10000/devaccount/', 'devaccount'],
  ])('%s belongs to %s', async (endpoint, name) => {
    expect((await load(file(endpoint), env)).storage).toMatchObject({ account_name: name, account_key: 'key' })
  })

  test.each([
    'http://object-storage:9000',
    'https://acme.example.com',
    'http://h/a/b',
    'not a url',
    '',
    'ftp://acme.blob.core.windows.net',
  ])('%j has no account name', async (endpoint) => {
    expect(await problemsOf(file(endpoint), env)).toEqual([refusal(endpoint)])
  })

  test('the default endpoint and the missing key are reported together', async () => {
    expect(await problemsOf('storage: {provider: STORAGE_ACCOUNT}')).toEqual([
      refusal('http://object-storage:9000'),
      'storage.provider STORAGE_ACCOUNT requires env var STORAGE_ACCOUNT_KEY.',
    ])
  })

  test.each([undefined, '', ' '])('a key of %j is missing, under the configured name', async (value) => {
    const named =
      'storage: {provider: STORAGE_ACCOUNT, endpoint_url: "https://a.blob.core.windows.net", account_key_env: MY_KEY}'
    expect(await problemsOf(named, { MY_KEY: value })).toEqual([
      'storage.provider STORAGE_ACCOUNT requires env var MY_KEY.',
    ])
  })

  test('a quoted endpoint loses its credentials', async () => {
    expect((await problemsOf(file('http://user:hunter2@h/a/b'), env)).join()).not.toContain('hunter2')
  })

  test('the other providers have no account', async () => {
    expect((await load(null, env)).storage).toMatchObject({ account_name: '', account_key: '' })
  })
})

describe('presigned URLs', () => {
  test.each([107999, 604801, 0, -1])('%d seconds fail', async (seconds) => {
    expect(await problemsOf(yaml('storage.presign_expiry_seconds', String(seconds)))).toEqual([
      'storage.presign_expiry_seconds must be between 108000 (30h, to outlive the cached session detail aggregate) ' +
        `and 604800 (the SigV4 7-day limit); got ${seconds}.`,
    ])
  })
  test.each([108000, 604800])('%d seconds pass', async (seconds) => {
    expect((await load(yaml('storage.presign_expiry_seconds', String(seconds)))).storage.presign_expiry_seconds).toBe(
      seconds,
    )
  })
})

describe('keys of jobs', () => {
  const ROLE = 'arn:aws:iam::123456789012:role/path/state'

  test('are static by default, and scoped when the file says so', async () => {
    expect((await load(null)).storage).toMatchObject({
      state_credentials: 'static',
      state_role_arn: '',
      sts_endpoint_url: '',
    })
    expect((await load('storage: {state_credentials: scoped}')).storage.state_credentials).toBe('scoped')
    const file = `storage: {provider: S3, state_credentials: scoped, state_role_arn: "${ROLE}"}`
    expect((await load(file)).storage.state_role_arn).toBe(ROLE)
    expect(await problemsOf('storage: {state_credentials: Scoped}')).toEqual([
      expect.stringContaining('storage.state_credentials must be one of static, scoped'),
    ])
  })

  test.each([
    '',
    'state',
    'arn:aws:iam::123456789012:user/state',
    'arn:aws:iam::1:role/state',
  ])('of S3 need a role, not %j', async (role) => {
    const file = `storage: {provider: S3, state_credentials: scoped, state_role_arn: "${role}"}`
    expect(await problemsOf(file)).toEqual([
      expect.stringMatching(/^storage\.state_credentials scoped with provider S3 requires storage\.state_role_arn, /),
    ])
  })

  test('of a bundled store are made from both of its keys', async () => {
    expect(await problemsOf('storage: {state_credentials: scoped}', { BUNDLED_SECRET_KEY: '' })).toEqual([
      'storage.state_credentials scoped with provider BUNDLED requires both keys of the store.',
    ])
  })
})

describe('the key of the encryption', () => {
  const KEYS = [
    '8b2f6c1e-4d3a-4b5c-9e7f-0123456789ab',
    'mrk-0123456789abcdef0123456789abcdef',
    'alias/platform',
    'arn:aws:kms:eu-west-1:123456789012:key/8b2f6c1e-4d3a-4b5c-9e7f-0123456789ab',
    'arn:aws-us-gov:kms:us-gov-west-1:123456789012:alias/team/platform',
  ]
  const file = (key: string, bucket = 'state') =>
    `storage: {server_side_encryption: "aws:kms", kms_key_id: "${key}", engine_state_bucket: "${bucket}"}`

  test.each(KEYS)('is one that the engine takes: %s', async (key) => {
    expect((await load(file(key))).storage.kms_key_id).toBe(key)
  })

  test.each(['platform', 'arn:aws:kms:platform', 'alias/', `${KEYS[0]}x`])('is not %s', async (key) => {
    expect(await problemsOf(file(key))).toEqual([
      'storage.kms_key_id must be the UUID, an alias (alias/<name>) or the ARN of a key while ' +
        `storage.engine_state_bucket is set, because the engine takes no other; got '${key}'.`,
    ])
    expect((await load(file(key, ''))).storage.kms_key_id).toBe(key)
  })

  test('needs its kind of encryption', async () => {
    expect(await problemsOf('storage: {kms_key_id: alias/platform}')).toEqual([
      'storage.kms_key_id requires storage.server_side_encryption aws:kms.',
    ])
  })
})

const S3 = 'storage: {provider: S3}'

describe('variables of the credential chain', () => {
  test('are read for S3 without keys only', async () => {
    const env = { AWS_ACCESS_KEY_ID: 'a', AWS_SECRET_ACCESS_KEY: 'b' }
    expect((await load(S3, env)).storage.aws).toMatchObject({ access_key: 'a', secret_key: 'b' })
    expect((await load(S3, { ...env, BUNDLED_ACCESS_KEY: 'one' })).storage.aws).toBeDefined()
    expect((await load(S3, { ...env, BUNDLED_ACCESS_KEY: 'x', BUNDLED_SECRET_KEY: 'y' })).storage.aws).toBeUndefined()
    expect((await load(null, { ...env, BUNDLED_ACCESS_KEY: '' })).storage.aws).toBeUndefined()
  })

  test('have the defaults of the vendor', async () => {
    expect((await load(S3, { HOME: '/home/me' })).storage.aws).toMatchObject({
      profile: '',
      credentials_file: '/home/me/.aws/credentials',
      config_file: '/home/me/.aws/config',
      metadata_disabled: false,
      metadata_endpoint: 'http://169.254.169.254',
    })
    expect((await load(S3)).storage.aws).toMatchObject({ credentials_file: '', config_file: '' })
  })

  test('that are secrets are masked', async () => {
    const env = {
      AWS_ACCESS_KEY_ID: 'chain-key',
      AWS_SECRET_ACCESS_KEY: 'chain-secret',
      AWS_SESSION_TOKEN: 'chain-session',
      AWS_CONTAINER_AUTHORIZATION_TOKEN: 'chain-container',
      AWS_ROLE_ARN: 'arn:aws:iam::1:role/r',
    }
    const config = await load(S3, env)
    const shown = JSON.stringify(maskedConfig(config))
    expect(shown).not.toContain('chain-')
    expect(shown).toContain(env.AWS_ROLE_ARN)
    expect(secretsOf(config)).toEqual(
      expect.arrayContaining(['chain-key', 'chain-secret', 'chain-session', 'chain-container']),
    )
  })
})

const elsewhere =
  'storage.endpoint_url is no account host: the engine looks for managed state at the account of that name in the cloud'

test.each([
  ['http://127.0.0.1:10000/acme', 'state', true],
  ['http://127.0.0.1:10000/acme', '', false],
  ['https://acme.blob.core.windows.net', 'state', false],
])('warns of a storage account at %s with state bucket %j: %s', async (endpoint, bucket, warned) => {
  const file = `storage: {provider: STORAGE_ACCOUNT, endpoint_url: "${endpoint}", engine_state_bucket: "${bucket}"}`
  const warnings = configWarnings(await load(file, { STORAGE_ACCOUNT_KEY: 'a2V5' }))
  expect(warnings.includes(elsewhere)).toBe(warned)
})
