import { describe, expect, it } from 'vitest'
import type { Config, StorageConfig } from '../../../config/types.ts'
import type { Fetch } from '../../../src/base/http.ts'
import { silentLogger } from '../../../src/base/log.ts'
import { checkStateKeys, createStateKeys } from '../../../src/data/storage/state-keys.ts'
import { storageConfig } from './config.ts'

const PROJECT = 'a'.repeat(64)
const KEYS = `<AssumeRoleResponse><AssumeRoleResult><Credentials>
  <AccessKeyId>ASIA1</AccessKeyId><SecretAccessKey>temporary</SecretAccessKey>
  <SessionToken>token</SessionToken><Expiration>2026-01-01T01:00:00Z</Expiration>
</Credentials></AssumeRoleResult></AssumeRoleResponse>`

const ROLE = 'arn:aws-cn:iam::123456789012:role/state'
const S3 = { provider: 'S3', region: 'cn-north-1', state_role_arn: ROLE } as const

/** Creates a source whose token service gives this answer. `asked` lists its requests. */
function sourceOf(
  changes: Partial<StorageConfig>,
  answer: () => Response | Promise<Response> = () => new Response(KEYS),
  jobTimeout = 3600,
) {
  const asked: { url: string; body: string; form: Record<string, string>; authorization: string }[] = []
  const fetch: Fetch = async (input, init) => {
    const request = new Request(input, init)
    const body = await request.text()
    const form = Object.fromEntries(new URLSearchParams(body))
    asked.push({ url: request.url, body, form, authorization: request.headers.get('authorization') ?? '' })
    return await answer()
  }
  const storage = storageConfig({ state_credentials: 'scoped', ...changes })
  const services = { iac: { job_timeout: jobTimeout } } as Config['services']
  const source = createStateKeys({ storage, services }, { fetch, log: silentLogger })
  return { storage, source, asked }
}

describe('keys for the state of one project', () => {
  it('are asked for at the store itself, when it has the interface of S3', async () => {
    const { source, asked } = sourceOf({})
    expect(await source?.issue(PROJECT)).toEqual({
      access_key: 'ASIA1',
      secret_key: 'temporary',
      session_token: 'token',
      expires: new Date('2026-01-01T01:00:00Z'),
    })
    expect(asked).toHaveLength(1)
    expect(asked[0]?.url).toBe('http://127.0.0.1:9000/')
    expect(asked[0]?.authorization).toMatch(/Credential=access-key\/\d{8}\/us-east-1\/sts\//)
    expect(asked[0]?.form).toMatchObject({ Action: 'AssumeRole', DurationSeconds: '3900' })
    const key = `arn:aws:s3:::platform-terraform-state/${PROJECT}/terraform.tfstate`
    expect(JSON.parse(asked[0]?.form.Policy ?? '')).toEqual({
      Version: '2012-10-17',
      Statement: [
        { Effect: 'Allow', Action: ['s3:GetObject', 's3:PutObject', 's3:AbortMultipartUpload'], Resource: [key] },
        { Effect: 'Allow', Action: ['s3:GetObject', 's3:PutObject', 's3:DeleteObject'], Resource: [`${key}.tflock`] },
        {
          Effect: 'Allow',
          Action: ['s3:ListBucket'],
          Resource: ['arn:aws:s3:::platform-terraform-state'],
          Condition: { StringLike: { 's3:prefix': [`${PROJECT}/*`] } },
        },
      ],
    })
  })

  it('are asked for at AWS in the partition of the role, with keys of the account for encrypted buckets', async () => {
    const { source, asked } = sourceOf(S3)
    await source?.issue(PROJECT)
    expect(asked[0]?.url).toBe('https://sts.cn-north-1.amazonaws.com.cn/')
    expect(asked[0]?.form.RoleArn).toBe(ROLE)
    expect(asked[0]?.form.RoleSessionName).toBe(`platform-${'a'.repeat(40)}`)
    const { Statement } = JSON.parse(asked[0]?.form.Policy ?? '')
    expect(Statement).toHaveLength(4)
    expect(Statement[0].Resource[0]).toMatch(/^arn:aws-cn:s3:::platform-terraform-state\/a+\//)
    expect(Statement[3].Condition).toEqual({ StringEquals: { 'kms:ViaService': 's3.cn-north-1.amazonaws.com.cn' } })
    expect((asked[0]?.form.Policy ?? '').length).toBeLessThan(2048)
  })

  it('are asked for in a body that is encoded as the clients of AWS do, since a server may encode it anew', async () => {
    const { source, asked } = sourceOf({ engine_state_filename: 'the state (1)~*.json' })
    await source?.issue(PROJECT)
    expect(asked[0]?.body).not.toMatch(/[+*]/)
    expect(asked[0]?.body).toContain('the%20state%20%281%29~%2A.json')
    expect(asked[0]?.form.Policy).toContain('the state (1)~*.json')
  })

  it('are asked for where the operator says', async () => {
    const { source, asked } = sourceOf({ sts_endpoint_url: 'http://sts.test:7480/' })
    await source?.issue(PROJECT)
    expect(asked[0]?.url).toBe('http://sts.test:7480/')
  })

  it.each([
    [60, '900'],
    [7200, '7500'],
    [86_400, '43200'],
  ])('last for a job of %d seconds, within what token services accept', async (jobTimeout, seconds) => {
    const { source, asked } = sourceOf({}, undefined, jobTimeout)
    await source?.issue(PROJECT)
    expect(asked[0]?.form.DurationSeconds).toBe(seconds)
  })

  it.each([
    ['keys are static', { state_credentials: 'static' }],
    ['state is not managed', { engine_state_bucket: '' }],
    ['the store is a storage account', { provider: 'STORAGE_ACCOUNT' }],
  ] as const)('are not made when %s', (_title, changes) => {
    expect(sourceOf(changes).source).toBeNull()
  })

  const refusal = () =>
    new Response('<ErrorResponse><Error><Code>AccessDenied</Code></Error></ErrorResponse>', { status: 403 })
  it('fail with 502 when the token service refuses, and with 503 when it cannot be reached', async () => {
    await expect(sourceOf({}, refusal).source?.issue(PROJECT)).rejects.toMatchObject({
      status: 502,
      message: 'No keys for the state store: the token service refused AssumeRole (403 AccessDenied).',
    })
    const unreachable = sourceOf({}, () => Promise.reject(new TypeError('fetch failed')))
    await expect(unreachable.source?.issue(PROJECT)).rejects.toMatchObject({
      status: 503,
      message: 'No keys for the state store: the token service cannot be reached.',
    })
  })

  it('are tried at the start of a worker, which tells what is not as it should be', async () => {
    const check = ({ storage, source }: ReturnType<typeof sourceOf>) => checkStateKeys(storage, source ?? undefined)
    const working = sourceOf({})
    expect(await check(working)).toBeNull()
    expect(working.asked).toHaveLength(1)
    expect(await check(sourceOf({ engine_state_bucket: '' }))).toBeNull()
    expect(await check(sourceOf({ state_credentials: 'static' }))).toBe(
      'storage.state_credentials is static: ' +
        'the code of every repository can reach the state of all projects at plan time',
    )
    expect(await check(sourceOf({ provider: 'STORAGE_ACCOUNT' }))).toMatch(
      /^storage\.state_credentials scoped is not possible with provider STORAGE_ACCOUNT: /,
    )
    expect(await check(sourceOf({}, refusal))).toBe(
      'storage.state_credentials is scoped, and every round will fail until this is mended: ' +
        'No keys for the state store: the token service refused AssumeRole (403 AccessDenied).',
    )
  })
})
