import { AwsClient } from 'aws4fetch'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { allows, parsePolicy } from '../../../dev/object-store/policy.ts'
import { startObjectStore } from '../../../dev/object-store.ts'
import type { Running } from '../../../dev/server.ts'

const OWNER = { access_key: 'owner', secret_key: 'secret-of-the-owner' }
let store: Running
let aheadMs = 0
beforeAll(async () => {
  store = await startObjectStore({ ...OWNER, now: () => new Date(Date.now() + aheadMs) })
  const owner = clientOf({ accessKeyId: OWNER.access_key, secretAccessKey: OWNER.secret_key })
  for (const bucket of ['states', 'other']) await owner.fetch(`${store.url}/${bucket}`, { method: 'PUT' })
  await owner.fetch(`${store.url}/states/p1/state`, { method: 'PUT', body: 'one' })
  await owner.fetch(`${store.url}/states/p2/state`, { method: 'PUT', body: 'two' })
})
afterAll(() => store.close())

interface Keys {
  accessKeyId: string
  secretAccessKey: string
  sessionToken?: string
}
const clientOf = (keys: Keys) => new AwsClient({ ...keys, service: 's3', region: 'us-east-1', retries: 0 })

const POLICY = {
  Version: '2012-10-17',
  Statement: [
    { Effect: 'Allow', Action: ['s3:GetObject', 's3:PutObject'], Resource: 'arn:aws:s3:::states/p1/*' },
    {
      Effect: 'Allow',
      Action: 's3:ListBucket',
      Resource: 'arn:aws:s3:::states',
      Condition: { StringLike: { 's3:prefix': 'p1/*' } },
    },
  ],
}

async function assume(
  fields: Record<string, string>,
  keys: Keys = { accessKeyId: OWNER.access_key, secretAccessKey: OWNER.secret_key },
) {
  const body = new URLSearchParams({ Action: 'AssumeRole', Version: '2011-06-15', RoleSessionName: 'test', ...fields })
  const answer = await clientOf(keys).fetch(`${store.url}/`, {
    method: 'POST',
    body: body.toString(),
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    aws: { service: 'sts' },
  })
  const text = await answer.text()
  const value = (name: string) => new RegExp(`<${name}>([^<]*)</${name}>`).exec(text)?.[1] ?? ''
  return {
    status: answer.status,
    code: value('Code'),
    expires: value('Expiration'),
    keys: {
      accessKeyId: value('AccessKeyId'),
      secretAccessKey: value('SecretAccessKey'),
      sessionToken: value('SessionToken'),
    },
  }
}
const limited = async () => clientOf((await assume({ Policy: JSON.stringify(POLICY) })).keys)
const codeOf = async (answer: Response) => /<Code>(\w+)<\/Code>/.exec(await answer.text())?.[1] ?? ''

describe('temporary keys', () => {
  it.each([
    ['GET', '/states/p1%2F..%2Fp2/state'],
    ['GET', '/states?location='],
    ['HEAD', '/states'],
    ['GET', '/'],
  ])('are refused what their policy does not name: %s %s', async (method, path) => {
    expect((await (await limited()).fetch(`${store.url}${path}`, { method })).status).toBe(403)
  })

  it('without a policy allow what the owner may do', async () => {
    const client = clientOf((await assume({})).keys)
    expect(await (await client.fetch(`${store.url}/states/p2/state`)).text()).toBe('two')
  })

  it('do not learn that an object is missing where they may not list it', async () => {
    const [reading = {}] = POLICY.Statement
    const policy = JSON.stringify({ ...POLICY, Statement: [reading] })
    const blind = clientOf((await assume({ Policy: policy })).keys)
    expect((await blind.fetch(`${store.url}/states/p1/state`)).status).toBe(200)
    expect((await blind.fetch(`${store.url}/states/p1/missing`, { method: 'HEAD' })).status).toBe(403)
  })

  it('run out', async () => {
    const { keys, expires } = await assume({ DurationSeconds: '900' })
    expect(Math.abs(Date.parse(expires) - Date.now() - 900_000)).toBeLessThan(10_000)
    const client = clientOf(keys)
    expect((await client.fetch(`${store.url}/states/p1/state`)).status).toBe(200)
    aheadMs = 901_000
    const datetime = new Date(Date.now() + aheadMs).toISOString().replaceAll(/[:-]|\.\d{3}/g, '')
    const answer = await client.fetch(`${store.url}/states/p1/state`, { aws: { datetime } })
    aheadMs = 0
    expect([answer.status, await codeOf(answer)]).toEqual([400, 'ExpiredToken'])
  })

  it('name a token that is not theirs as the reason', async () => {
    const [first, second] = [await assume({}), await assume({})]
    const answer = async (sessionToken: string) =>
      codeOf(await clientOf({ ...first.keys, sessionToken }).fetch(`${store.url}/states/p1/state`))
    expect(await answer(second.keys.sessionToken)).toBe('InvalidToken')
    expect(await answer('nonsense')).toBe('InvalidToken')
  })

  it.each([
    ['by somebody with temporary keys', {}, 403, 'AccessDenied', true],
    ['for too long a time', { DurationSeconds: '43201' }, 400, 'ValidationError'],
    ['without a name of the session', { RoleSessionName: '' }, 400, 'ValidationError'],
    ['with another action', { Action: 'GetSessionToken' }, 400, 'InvalidAction'],
    ['with a policy that is no JSON', { Policy: '{' }, 400, 'MalformedPolicyDocument'],
    ['with a policy that is too long', { Policy: ' '.repeat(2049) }, 400, 'PackedPolicyTooLarge'],
  ])('are not made %s', async (_title, fields, status, code, isTemporary = false) => {
    const keys = isTemporary ? (await assume({})).keys : undefined
    expect(await assume(fields, keys)).toMatchObject({ status, code })
  })
})

describe('a policy', () => {
  const statement = (changes: object) =>
    JSON.stringify({
      Version: '2012-10-17',
      Statement: [{ Effect: 'Allow', Action: 's3:*', Resource: '*', ...changes }],
    })

  it.each([
    ['another version', '{"Version":"2008-10-17","Statement":[]}'],
    ['a field that is not known', statement({ NotAction: 's3:GetObject' })],
    ['another condition', statement({ Condition: { IpAddress: { 'aws:SourceIp': '10.0.0.0/8' } } })],
    ['a condition on something else', statement({ Condition: { StringEquals: { 's3:delimiter': '/' } } })],
    ['no effect', statement({ Effect: 'Maybe' })],
    ['an action that is no text', statement({ Action: [1] })],
  ])('with %s is refused', (_title, text) => {
    expect(() => parsePolicy(text)).toThrow('The policy cannot be used')
  })

  it.each([
    ['s3:getobject', 'arn:aws:s3:::b/k', true],
    ['s3:PutObject', 'arn:aws:s3:::b/k', false],
    ['s3:GetObject', 'arn:aws:s3:::b/K', false],
    ['s3:GetObject', 'arn:aws:s3:::b/kk', false],
  ])('compares %s on %s', (action, resource, expected) => {
    const policy = parsePolicy(statement({ Action: 's3:Get*', Resource: 'arn:aws:s3:::b/k' }))
    expect(allows(policy, { action, resource })).toBe(expected)
  })

  it('denies what one statement denies', () => {
    const text = statement({}).replace(']}', ',{"Effect":"Deny","Action":"s3:GetObject","Resource":"*/secret?"}]}')
    const policy = parsePolicy(text)
    expect(allows(policy, { action: 's3:GetObject', resource: 'a/open' })).toBe(true)
    expect(allows(policy, { action: 's3:GetObject', resource: 'a/secret1' })).toBe(false)
  })

  it('does not slow down on many wildcards', () => {
    const policy = parsePolicy(statement({ Resource: `${'*a'.repeat(500)}b` }))
    const started = performance.now()
    expect(allows(policy, { action: 's3:GetObject', resource: 'a'.repeat(1000) })).toBe(false)
    expect(performance.now() - started).toBeLessThan(1_000)
  })
})
