import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import type { StorageConfig } from '../../../config/types.ts'
import { deriveProjectId, overrideFile, quote } from '../../../src/plan/state/managed-state.ts'
import { engineOnPath } from '../../helpers/engine.ts'
import { temporaryFolder } from '../../helpers/folder.ts'

const storage = (changes: Partial<StorageConfig>): StorageConfig => ({
  provider: 'BUNDLED',
  bucket: 'artifacts',
  engine_state_bucket: 'state',
  engine_state_filename: 'engine.tfstate',
  existing_state: 'ask',
  existing_state_timeout: 300,
  endpoint_url: 'http://store:9000',
  public_endpoint_url: 'http://public:9000',
  region: 'eu-west-1',
  access_key: 'key',
  secret_key: 'secret',
  account_name: '',
  account_key: '',
  connect_timeout: 1,
  read_timeout: 1,
  max_attempts: 1,
  retry_seconds: 0,
  addressing: 'path',
  server_side_encryption: '',
  kms_key_id: '',
  presign_expiry_seconds: 108_000,
  state_credentials: 'static',
  state_role_arn: '',
  sts_endpoint_url: '',
  ...changes,
})
const lines = (changes: Partial<StorageConfig>) =>
  (overrideFile(storage(changes), 'id')?.content ?? '').split('\n').map((line) => line.trim())

describe('override file', () => {
  it('is none when the state bucket is blank', () => {
    expect(overrideFile(storage({ engine_state_bucket: '  ' }), 'id')).toBeNull()
  })

  it('names bucket and key for the log', () => {
    expect(overrideFile(storage({ engine_state_bucket: ' state ' }), 'id')).toMatchObject({
      bucket: 'state',
      key: 'id/engine.tfstate',
    })
  })

  it('points a bundled store at its internal endpoint with every compatibility flag', () => {
    expect(lines({})).toEqual([
      'terraform {',
      'backend "s3" {',
      'bucket = "state"',
      'key = "id/engine.tfstate"',
      'region = "eu-west-1"',
      'access_key = "key"',
      'secret_key = "secret"',
      'endpoints = { s3 = "http://store:9000" }',
      'use_path_style = true',
      'skip_credentials_validation = true',
      'skip_region_validation = true',
      'skip_requesting_account_id = true',
      'skip_metadata_api_check = true',
      'skip_s3_checksum = true',
      'max_retries = 5',
      'use_lockfile = true',
      '}',
      '}',
      '',
    ])
  })

  it.each([
    [90, 14],
    [300, 35],
  ])('lets the engine wait for a store as long as a worker does (%i s)', (retry_seconds, attempts) => {
    expect(lines({ retry_seconds })).toContain(`max_retries = ${attempts}`)
  })

  it.each([
    ['', '', []],
    ['AES256', '', ['encrypt = true']],
    ['aws:kms', 'alias/platform', ['encrypt = true', 'kms_key_id = "alias/platform"']],
    ['aws:kms', '', []],
  ] as const)('asks for no other encryption than was set (%s, %s)', (server_side_encryption, kms_key_id, expected) => {
    const told = lines({ server_side_encryption, kms_key_id })
    expect(told.filter((line) => /^(encrypt|kms_key_id) /.test(line))).toEqual(expected)
  })

  it.each([
    ['BUNDLED', { access_key: '' }],
    ['BUNDLED', { secret_key: '' }],
    ['S3', { access_key: '' }],
    ['S3', { secret_key: '' }],
  ] as const)('leaves out both credential lines when one is missing (%s, %o)', (provider, changes) => {
    expect(lines({ provider, ...changes }).filter((line) => /^(access|secret)_key/.test(line))).toEqual([])
  })

  it('names the file with the keys, and lists workspaces of the project only, when keys are scoped', () => {
    const scoped = lines({ state_credentials: 'scoped' })
    expect(scoped).toEqual(
      lines({}).flatMap((line) => {
        if (line.startsWith('access_key')) return ['shared_credentials_files = [".platform-state-credentials"]']
        return line.startsWith('secret_key')
          ? ['profile = "platform-state"', 'workspace_key_prefix = "id/env:"']
          : [line]
      }),
    )
    const account = {
      provider: 'STORAGE_ACCOUNT',
      account_name: 'acct',
      account_key: 'k',
      endpoint_url: 'https://acct.blob.core.windows.net',
    } as const
    expect(lines({ ...account, state_credentials: 'scoped' })).toEqual(lines(account))
  })

  it('has no endpoint and no flags but the lock for S3', () => {
    expect(lines({ provider: 'S3' }).slice(1, -2)).toEqual([
      'backend "s3" {',
      'bucket = "state"',
      'key = "id/engine.tfstate"',
      'region = "eu-west-1"',
      'access_key = "key"',
      'secret_key = "secret"',
      'max_retries = 5',
      'use_lockfile = true',
      '}',
    ])
  })

  it('uses the account for a storage account, with its key or the ambient identity', () => {
    const account = {
      provider: 'STORAGE_ACCOUNT',
      account_name: 'acct',
      endpoint_url: 'https://acct.blob.core.windows.net',
    } as const
    expect(lines({ ...account, account_key: 'k' }).slice(1, 6)).toEqual([
      'backend "azurerm" {',
      'storage_account_name = "acct"',
      'container_name = "state"',
      'key = "id/engine.tfstate"',
      'access_key = "k"',
    ])
    expect(lines(account)[5]).toBe('use_azuread_auth = true')
    expect(lines(account)[6]).toBe('}')
  })

  it.each([
    ['https://acct.blob.core.usgovcloudapi.net', ['environment = "usgovernment"']],
    ['https://acct.blob.core.chinacloudapi.cn', ['environment = "china"']],
    ['https://acct.blob.core.windows.net', []],
    // The backend has no field for an emulator's address, so nothing is rendered for it.
    ['http://127.0.0.1:10000/acct', []],
  ])('names the cloud of %s', (endpoint_url, expected) => {
    const rendered = lines({ provider: 'STORAGE_ACCOUNT', account_name: 'acct', account_key: 'k', endpoint_url })
    expect(rendered.slice(2, 6)).toEqual([
      'storage_account_name = "acct"',
      'container_name = "state"',
      'key = "id/engine.tfstate"',
      'access_key = "k"',
    ])
    expect(rendered.slice(6, -3)).toEqual(expected)
  })
})

describe('quoted values', () => {
  const folder = temporaryFolder()

  it('are read back unchanged by the engine', async () => {
    const engine = await engineOnPath()
    const values = [
      'plain',
      'a"b',
      'back\\slash',
      '$' + '{path.cwd}',
      '%' + '{ if true }',
      '$$' + '{x}',
      '100%',
      '$5',
      'line\nfeed\ttab\r',
      '"}\n}\nx = 1',
    ]
    const outputs = values.map((value, index) => `output "v${index}" {\n  value = ${quote(value)}\n}\n`).join('')
    await writeFile(join(folder, 'main.tf'), outputs)
    const run = (...args: string[]) =>
      promisify(execFile)(engine, args, { cwd: folder, env: { PATH: process.env.PATH, HOME: folder } })
    await run('init', '-input=false')
    await run('apply', '-auto-approve', '-input=false')
    const parsed = JSON.parse((await run('output', '-json')).stdout)
    expect(values.map((_, index) => parsed[`v${index}`].value)).toEqual(values)
  })
})

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')

describe('project id', () => {
  it('is the SHA-256 of repository, scope and path, joined by line feeds', async () => {
    const id = await deriveProjectId('https://github.com/acme/infra.git', 'sub-1', 'live/prod')
    expect(id).toBe(sha256('github.com/acme/infra\nsub-1\nlive/prod'))
  })

  it.each([
    ['letter case', 'https://GitHub.com/Acme/INFRA', 'Sub-1', 'live/prod'],
    ['user and port', 'https://bob@github.com:8443/acme/infra', 'sub-1', 'live/prod'],
    ['.git and slashes', 'https://github.com//acme/infra.git//', 'sub-1', '/live//prod/'],
    ['blanks and dot segments', ' https://github.com/acme/infra ', ' sub-1 ', './live/./prod '],
  ])('is the same whatever the spelling: %s', async (_, repository, scope, path) => {
    const expected = await deriveProjectId('https://github.com/acme/infra', 'sub-1', 'live/prod')
    expect(await deriveProjectId(repository, scope, path)).toBe(expected)
  })

  it('is one for null, empty and dot paths', async () => {
    const ids = await Promise.all(
      [null, '', '.', './', '/'].map((path) => deriveProjectId('https://github.com/a/b', 's', path)),
    )
    expect(new Set(ids).size).toBe(1)
    expect(ids[0]).toBe(sha256('github.com/a/b\ns\n'))
  })

  it('differs when repository, scope or path differs', async () => {
    const ids = await Promise.all([
      deriveProjectId('https://github.com/a/b', 's', 'p'),
      deriveProjectId('https://github.com/a/c', 's', 'p'),
      deriveProjectId('https://gitlab.com/a/b', 's', 'p'),
      deriveProjectId('https://github.com/a/b', 't', 'p'),
      deriveProjectId('https://github.com/a/b', 's', 'P'),
      deriveProjectId('https://github.com/a/b.git.git', 's', 'p'),
    ])
    expect(new Set(ids).size).toBe(6)
  })
})
