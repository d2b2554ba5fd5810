import { HttpResponse } from 'msw'
import { describe, expect, it } from 'vitest'
import { staticCredentials } from '../../../src/aws/credentials.ts'
import { silentLogger } from '../../../src/base/log.ts'
import { createObjectStore } from '../../../src/data/storage/create.ts'
import { interceptRequests, recordRequests } from '../../helpers/intercept.ts'
import { assumed, CONTAINER, chainStore, INSTANCE, instance, noCredentials, role, STS, signedBy } from './aws.ts'
import { storageConfig } from './config.ts'

const outside = interceptRequests()

const KEYS = { AWS_ACCESS_KEY_ID: 'AKIAENV', AWS_SECRET_ACCESS_KEY: 'env-secret', AWS_SESSION_TOKEN: 'env-token' }
const WEB = { AWS_WEB_IDENTITY_TOKEN_FILE: '/token', AWS_ROLE_ARN: 'arn:aws:iam::1:role/web' }
const SHARED = { HOME: '/home/platform' }
const BOXED = { AWS_CONTAINER_CREDENTIALS_RELATIVE_URI: '/v2/credentials/1' }
const FILES = {
  '/token': 'a.b.c\n',
  '/home/platform/.aws/credentials': '[default]\naws_access_key_id = AKIAFILE\naws_secret_access_key = file-secret\n',
}

function everywhere() {
  return {
    sts: recordRequests(outside, STS, () => assumed('AssumeRoleWithWebIdentity', 'WEB')),
    container: recordRequests(outside, CONTAINER, () => role('CONTAINER')),
    instance: recordRequests(outside, INSTANCE, instance()),
  }
}

describe('without keys, the first place that is set up counts', () => {
  it.each([
    ['key variables', 'AKIAENV env-token', { ...KEYS, ...WEB, ...SHARED, ...BOXED }],
    ['web identity', 'ASIAWEB WEB-token', { ...WEB, ...SHARED, ...BOXED }],
    ['shared files', 'AKIAFILE', { ...SHARED, ...BOXED }],
    ['container', 'ASIACONTAINER CONTAINER-token', BOXED],
    ['instance metadata', 'ASIAINSTANCE INSTANCE-token', {}],
  ])('%s', async (source, expected, env) => {
    everywhere()
    const { store, lines } = await chainStore(env, FILES)
    expect(await signedBy(store)).toBe(expected)
    expect(lines).toMatchObject([{ message: 'credentials of the object store found', source }])
    expect(JSON.stringify(lines)).not.toContain('secret')
  })

  it.each([
    ['keys of a variable pair', { BUNDLED_ACCESS_KEY: 'AKIAOWN', BUNDLED_SECRET_KEY: 's' }, 'AKIAOWN'],
    ['one of such a pair is none', { BUNDLED_ACCESS_KEY: 'AKIAOWN', BUNDLED_SECRET_KEY: '' }, 'AKIAENV env-token'],
    ['key variables without a session', { AWS_SESSION_TOKEN: undefined }, 'AKIAENV'],
  ])('%s', async (_name, env, expected) => {
    expect(await signedBy((await chainStore({ ...KEYS, ...env })).store)).toBe(expected)
  })

  it('requests carry the session token under the signature', async () => {
    const seen = recordRequests(
      outside,
      'https://platform-artifacts.s3.eu-west-1.amazonaws.com',
      () => new HttpResponse(null, { status: 200 }),
    )
    const { store } = await chainStore(KEYS)
    await store.put('k', 'x', { content_type: 'text/plain' })
    expect(seen[0]?.headers.get('x-amz-security-token')).toBe('env-token')
    expect(seen[0]?.headers.get('authorization')).toMatch(/SignedHeaders=[^,]*x-amz-security-token/)
  })

  it('of two keys one is none for an injected source as well', async () => {
    const credentials = staticCredentials({ access_key: 'INJECTED', secret_key: 's', session_token: 't' })
    const config = storageConfig({ provider: 'S3', access_key: '', secret_key: 'only' })
    expect(await signedBy(createObjectStore(config, { fetch, log: silentLogger, credentials }))).toBe('INJECTED t')
  })
})

describe('web identity', () => {
  it('asks the regional token service with the token of the file', async () => {
    const { sts } = everywhere()
    const { store } = await chainStore({ ...WEB, AWS_ROLE_SESSION_NAME: 'the-core' }, FILES)
    await signedBy(store)
    expect(sts).toHaveLength(1)
    expect(sts[0]?.form).toEqual({
      Action: 'AssumeRoleWithWebIdentity',
      Version: '2011-06-15',
      RoleArn: 'arn:aws:iam::1:role/web',
      RoleSessionName: 'the-core',
      WebIdentityToken: 'a.b.c',
    })
    expect(sts[0]?.headers.get('authorization')).toBeNull()
  })

  it.each([
    [{ AWS_ROLE_ARN: '' }, FILES, 'AWS_WEB_IDENTITY_TOKEN_FILE is set without AWS_ROLE_ARN'],
    [{}, {}, 'the file that AWS_WEB_IDENTITY_TOKEN_FILE names is missing or empty'],
    [{}, { '/token': ' \n' }, 'the file that AWS_WEB_IDENTITY_TOKEN_FILE names is missing or empty'],
    [
      {},
      { '/token': Object.assign(new Error('/token'), { code: 'EACCES' }) },
      'the file that AWS_WEB_IDENTITY_TOKEN_FILE names cannot be read (EACCES)',
    ],
  ])('%o with %o is a clear error, and no other place is asked', async (env, files, reason) => {
    const { sts, container } = everywhere()
    const { store } = await chainStore({ ...WEB, ...BOXED, ...env }, files)
    await expect(signedBy(store)).rejects.toMatchObject(noCredentials(reason))
    expect([...sts, ...container]).toEqual([])
  })

  it.each([
    [
      () =>
        HttpResponse.xml(
          '<ErrorResponse><Error><Code>AccessDenied</Code><Message>arn</Message></Error></ErrorResponse>',
          { status: 403 },
        ),
      500,
      'the token service refused AssumeRoleWithWebIdentity (403 AccessDenied)',
      1,
    ],
    [
      () => HttpResponse.xml('<other/>'),
      500,
      'the token service answered AssumeRoleWithWebIdentity without credentials',
      1,
    ],
    [() => HttpResponse.error(), 503, 'the token service cannot be reached', 3],
  ])('a token service in trouble (%#) is a clear error', async (reply, status, reason, attempts) => {
    const sts = recordRequests(outside, STS, reply)
    const { store } = await chainStore(WEB, FILES)
    await expect(signedBy(store)).rejects.toMatchObject(noCredentials(reason, status))
    expect(sts).toHaveLength(attempts)
  })
})

describe('a container', () => {
  it('is asked at the fixed address, or at the one named with its token', async () => {
    const fixed = recordRequests(outside, CONTAINER, () => role('CONTAINER'))
    await signedBy((await chainStore(BOXED)).store)
    expect(fixed.map(({ line, headers }) => [line, headers.get('authorization')])).toEqual([
      ['GET /v2/credentials/1', null],
    ])
    const pod = recordRequests(outside, 'http://169.254.170.23', () => role('POD'))
    const named = { AWS_CONTAINER_CREDENTIALS_FULL_URI: 'http://169.254.170.23/v1/credentials' }
    const both = {
      ...named,
      AWS_CONTAINER_AUTHORIZATION_TOKEN: 'stale',
      AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE: '/pod',
    }
    expect(await signedBy((await chainStore(both, { '/pod': 'of-the-file\n' })).store)).toBe('ASIAPOD POD-token')
    await signedBy((await chainStore({ ...named, AWS_CONTAINER_AUTHORIZATION_TOKEN: 'of-the-variable' })).store)
    expect(pod.map(({ headers }) => headers.get('authorization'))).toEqual(['of-the-file', 'of-the-variable'])
  })

  it.each([
    'http://localhost:99/x',
    'http://127.0.0.7/x',
    'http://[::1]:8/x',
    'https://credentials.example/x',
  ])('may be at %s', async (url) => {
    recordRequests(outside, new URL(url).origin, () => role('NAMED'))
    expect(await signedBy((await chainStore({ AWS_CONTAINER_CREDENTIALS_FULL_URI: url })).store)).toBe(
      'ASIANAMED NAMED-token',
    )
  })

  const plain = 'AWS_CONTAINER_CREDENTIALS_FULL_URI must be https, or http to this machine'
  it.each([
    [{ AWS_CONTAINER_CREDENTIALS_FULL_URI: 'http://credentials.example/x' }, plain],
    [{ AWS_CONTAINER_CREDENTIALS_FULL_URI: 'http://127.0.0.1.example/x' }, plain],
    [{ AWS_CONTAINER_CREDENTIALS_FULL_URI: 'no url' }, plain],
    [
      { AWS_CONTAINER_CREDENTIALS_RELATIVE_URI: '@credentials.example/x' },
      'AWS_CONTAINER_CREDENTIALS_RELATIVE_URI must start with a slash',
    ],
    [
      { ...BOXED, AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE: '/none' },
      'the file that AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE names is missing or empty',
    ],
  ])('%o is refused and nothing is asked', async (env, reason) => {
    const { store } = await chainStore(env)
    await expect(signedBy(store)).rejects.toMatchObject(noCredentials(reason))
  })

  it.each([
    [() => new HttpResponse(null, { status: 403 }), 500, 'the credentials of the container cannot be had (403)'],
    [() => HttpResponse.json({ message: 'no' }), 500, 'the answer for the container holds none'],
    [() => HttpResponse.text('no json'), 500, 'the answer for the container holds none'],
    [() => HttpResponse.error(), 503, 'the credentials of the container cannot be had, the connection failed'],
  ])('in trouble (%#) is a clear error', async (reply, status, reason) => {
    recordRequests(outside, CONTAINER, reply)
    const { store } = await chainStore(BOXED)
    await expect(signedBy(store)).rejects.toMatchObject(noCredentials(reason, status))
  })
})

describe('the machine', () => {
  const nowhere = 'neither key variables, web identity, shared files nor a container role is set up'

  it('may have its metadata elsewhere', async () => {
    recordRequests(outside, 'http://[fd00:ec2::254]', instance('SIX'))
    expect(await signedBy((await chainStore({ AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE: 'IPv6' })).store)).toBe(
      'ASIASIX SIX-token',
    )
    recordRequests(outside, 'http://127.0.0.1:1338', instance('LOCAL'))
    const env = { AWS_EC2_METADATA_SERVICE_ENDPOINT: 'http://127.0.0.1:1338/' }
    expect(await signedBy((await chainStore(env)).store)).toBe('ASIALOCAL LOCAL-token')
  })

  it.each([
    [() => new HttpResponse(null, { status: 404 }), 500, `${nowhere}, and instance metadata answers 404`],
    [() => HttpResponse.error(), 503, `${nowhere}, and instance metadata does not answer (the connection failed)`],
    [
      (request: Request) => HttpResponse.text(request.method === 'PUT' ? 't' : ''),
      500,
      `${nowhere}, and this machine has no role`,
    ],
    [
      () => HttpResponse.text('{"Code":"AssumeRoleUnauthorizedAccess"}'),
      500,
      'the answer of instance metadata holds none',
    ],
  ])('without credentials (%#) is a clear error', async (reply, status, reason) => {
    recordRequests(outside, INSTANCE, reply)
    const { store } = await chainStore({})
    await expect(signedBy(store)).rejects.toMatchObject(noCredentials(reason, status))
  })

  it('is not asked when that is switched off', async () => {
    const seen = recordRequests(outside, INSTANCE, instance())
    const { store } = await chainStore({ AWS_EC2_METADATA_DISABLED: 'TRUE' })
    await expect(signedBy(store)).rejects.toThrow(`${nowhere}, and instance metadata is disabled.`)
    expect(seen).toEqual([])
  })
})

it.each([
  [{ AWS_ACCESS_KEY_ID: 'a' }, 'AWS_ACCESS_KEY_ID is set without AWS_SECRET_ACCESS_KEY'],
  [{ AWS_SECRET_ACCESS_KEY: 's' }, 'AWS_SECRET_ACCESS_KEY is set without AWS_ACCESS_KEY_ID'],
])('half a pair of key variables (%o) is a clear error', async (env, reason) => {
  await expect((await chainStore(env)).store.ensureBuckets()).rejects.toThrow(
    `No credentials for the object store: ${reason}.`,
  )
})
