import { beforeAll, expect, it } from 'vitest'
import { BUCKET, clientOf, type Keys, outcome, type StoreClient, timestamp } from './client.ts'

export function describeSignatures(store: StoreClient): void {
  const { owner, presign, put } = store
  it.each([
    ['another secret', { secretAccessKey: 'wrong-secret-key' }, 'SignatureDoesNotMatch'],
    ['an unknown key', { accessKeyId: 'somebody-else' }, 'InvalidAccessKeyId'],
  ])('with %s are refused', async (_, change, code) => {
    await put('signed', 'x')
    const keys = { ...owner(), ...change }
    expect(await outcome(await clientOf(keys).fetch(`${store.url}/${BUCKET}/signed`))).toEqual([403, code])
    expect(await outcome(await fetch(await presign('signed', 60, new Date(), keys)))).toEqual([403, code])
  })

  it.each(['signed', 'no-such-key'])('are needed for %s', async (key) => {
    expect(await outcome(await fetch(`${store.url}/${BUCKET}/${key}`))).toEqual([403, 'AccessDenied'])
  })

  it('hold for one request', async () => {
    const signed = await clientOf(owner()).sign(`${store.url}/${BUCKET}/signed`)
    const moved = await fetch(`${store.url}/${BUCKET}/ten`, { headers: signed.headers })
    expect(await outcome(moved)).toEqual([403, 'SignatureDoesNotMatch'])
  })

  it('of a clock that is far off are refused', async () => {
    const datetime = timestamp(new Date(Date.now() - 16 * 60_000))
    const late = await clientOf(owner()).fetch(`${store.url}/${BUCKET}/signed`, { aws: { datetime } })
    expect(await outcome(late)).toEqual([403, 'RequestTimeTooSkewed'])
  })

  it('of another region are told so', async () => {
    const elsewhere = await clientOf(owner(), 'eu-central-1').fetch(`${store.url}/${BUCKET}/signed`)
    expect(await outcome(elsewhere)).toEqual([400, 'AuthorizationHeaderMalformed'])
  })

  it('in addresses hold for one method, one object and one time', async () => {
    await put('shown', 'visible', { 'content-type': 'text/plain', 'x-amz-meta-type': 'plan' })
    const target = await presign('shown', 60)
    const opened = await fetch(target)
    expect([opened.status, await opened.text(), opened.headers.get('content-disposition')]).toEqual([
      200,
      'visible',
      null,
    ])
    expect((await fetch(target, { headers: { range: 'bytes=0-0' } })).status).toBe(206)
    expect((await fetch(target, { method: 'HEAD' })).status).toBe(403)
    expect((await fetch(target, { method: 'DELETE' })).status).toBe(403)
    expect(await outcome(await fetch(target.replace('/shown', '/ten')))).toEqual([403, 'SignatureDoesNotMatch'])
    const longer = target.replace('X-Amz-Expires=60', 'X-Amz-Expires=604800')
    expect(await outcome(await fetch(longer))).toEqual([403, 'SignatureDoesNotMatch'])
    const expired = await presign('shown', 60, new Date(Date.now() - 61_000))
    expect(await outcome(await fetch(expired))).toEqual([403, 'AccessDenied'])
    expect(await outcome(await fetch(await presign('shown', 604_801)))).toEqual([
      400,
      'AuthorizationQueryParametersError',
    ])
    expect((await fetch(await presign('shown', 604_800))).status).toBe(200)
    const early = await presign('shown', 60, new Date(Date.now() + 20 * 60_000))
    expect(await outcome(await fetch(early))).toEqual([403, 'AccessDenied'])
  })
}

export function describePages(store: StoreClient): void {
  const { presign, put } = store
  const ask = async (origin: string, method: string) => {
    const asked = { origin, 'access-control-request-method': method, 'access-control-request-headers': 'range' }
    return fetch(await presign('page', 60), { method: 'OPTIONS', headers: asked })
  }
  beforeAll(() => put('page', 'x', { 'content-type': 'text/plain', 'x-amz-meta-type': 'plan' }))

  it('of the named origin may read, with ranges and metadata', async () => {
    const preflight = await ask(store.origin, 'GET')
    expect(preflight.ok).toBe(true)
    expect(preflight.headers.get('access-control-allow-origin')).toBe(store.origin)
    expect(preflight.headers.get('access-control-allow-headers')?.toLowerCase()).toBe('range')
    expect(preflight.headers.get('access-control-allow-methods')).toContain('GET')
    const read = await fetch(await presign('page', 60), { headers: { origin: store.origin, range: 'bytes=0-0' } })
    expect([read.status, read.headers.get('access-control-allow-origin')]).toEqual([206, store.origin])
    const exposed = (read.headers.get('access-control-expose-headers') ?? '').toLowerCase().split(/,\s*/)
    for (const name of ['x-amz-meta-type', 'x-amz-meta-new_file', 'content-range', 'content-length'])
      expect(isExposed(exposed, name), name).toBe(true)
  })

  it('see why they were refused', async () => {
    const headers = { origin: store.origin }
    const expired = await fetch(await presign('page', 1, new Date(Date.now() - 5_000)), { headers })
    expect([expired.status, expired.headers.get('access-control-allow-origin')]).toEqual([403, store.origin])
    const missing = await fetch(await presign('no-page', 60), { headers })
    expect([missing.status, missing.headers.get('access-control-allow-origin')]).toEqual([404, store.origin])
  })

  it('of another origin may not', async () => {
    const other = 'https://evil.example'
    expect((await ask(other, 'GET')).headers.get('access-control-allow-origin')).toBeNull()
    const read = await fetch(await presign('page', 60), { headers: { origin: other } })
    expect(read.headers.get('access-control-allow-origin')).toBeNull()
  })
}

export function describeTemporaryKeys(store: StoreClient): void {
  const { assume, presign, put } = store
  const STATE = `arn:aws:s3:::${BUCKET}/p1/state`
  const allow = (Action: string[], Resource: string, Condition?: object) => ({
    Effect: 'Allow',
    Action,
    Resource: [Resource],
    ...(Condition && { Condition }),
  })
  const Policy = JSON.stringify({
    Version: '2012-10-17',
    Statement: [
      allow(['s3:GetObject', 's3:PutObject', 's3:AbortMultipartUpload'], STATE),
      allow(['s3:GetObject', 's3:PutObject', 's3:DeleteObject'], `${STATE}.tflock`),
      allow(['s3:ListBucket'], `arn:aws:s3:::${BUCKET}`, { StringLike: { 's3:prefix': ['p1/*'] } }),
    ],
  })
  const limited = async () => clientOf((await assume({ Policy })).keys)
  beforeAll(async () => {
    for (const project of ['p1', 'p2', 'p10']) await put(`${project}/state`, project)
  })

  it.each([
    ['GET', `${BUCKET}/p1/state`, 200],
    ['PUT', `${BUCKET}/p1/state`, 200],
    ['PUT', `${BUCKET}/p1/state.tflock`, 200],
    ['DELETE', `${BUCKET}/p1/state.tflock`, 204],
    ['GET', `${BUCKET}?list-type=2&prefix=p1%2F`, 200],
    ['GET', `${BUCKET}/p2/state`, 403],
    ['HEAD', `${BUCKET}/p2/state`, 403],
    ['GET', `${BUCKET}/p10/state`, 403],
    ['PUT', `${BUCKET}/p2/state`, 403],
    ['DELETE', `${BUCKET}/p2/state`, 403],
    ['DELETE', `${BUCKET}/p1/state`, 403],
    ['PUT', `${BUCKET}/p1/other`, 403],
    ['GET', `${BUCKET}?list-type=2`, 403],
    ['GET', `${BUCKET}?list-type=2&prefix=p`, 403],
    ['GET', `${BUCKET}?list-type=2&prefix=p2%2F`, 403],
    ['DELETE', BUCKET, 403],
    ['PUT', 'another-bucket', 403],
    ['GET', 'lists/a', 403],
  ])('reach what their policy names, and nothing else: %s %s', async (method, path, status) => {
    const body = method === 'PUT' && path.startsWith(`${BUCKET}/`) ? { body: 'p1' } : {}
    expect((await (await limited()).fetch(`${store.url}/${path}`, { method, ...body })).status).toBe(status)
  })

  it('learn that an object is missing where they may list it', async () => {
    const client = await limited()
    expect(await outcome(await client.fetch(`${store.url}/${BUCKET}/p1/state.tflock`))).toEqual([404, 'NoSuchKey'])
  })

  it('sign addresses that hold', async () => {
    const { keys } = await assume({ Policy })
    expect((await fetch(await presign('p1/state', 60, new Date(), keys))).status).toBe(200)
    expect((await fetch(await presign('p2/state', 60, new Date(), keys))).status).toBe(403)
  })

  it('are refused when something of them is changed', async () => {
    const [first, second] = [await assume({}), await assume({})]
    const answer = async (keys: Keys) => (await clientOf(keys).fetch(`${store.url}/${BUCKET}/p2/state`)).status
    const { accessKeyId, secretAccessKey, sessionToken } = first.keys
    expect(await answer(first.keys)).toBe(200)
    expect(await answer({ accessKeyId, secretAccessKey })).toBe(403)
    expect([400, 403]).toContain(await answer({ ...first.keys, sessionToken: second.keys.sessionToken }))
    expect([400, 403]).toContain(await answer({ ...first.keys, sessionToken: `${sessionToken}x` }))
    expect(await answer({ ...first.keys, secretAccessKey: second.keys.secretAccessKey })).toBe(403)
  })

  it('make no further ones, and outlive the server', async () => {
    const { keys, expires } = await assume({ Policy })
    expect(Date.parse(expires) - Date.now()).toBeLessThanOrEqual(901_000)
    expect((await assume({}, keys)).status).toBe(403)
    await store.restart()
    expect((await clientOf(keys).fetch(`${store.url}/${BUCKET}/p1/state`)).status).toBe(200)
    expect((await clientOf(keys).fetch(`${store.url}/${BUCKET}/p2/state`)).status).toBe(403)
  })

  it.each([
    ['for too short a time', { DurationSeconds: '899' }],
    ['with a policy that is no JSON', { Policy: '{' }],
    ['with another action', { Action: 'GetSessionToken' }],
  ])('are not made %s', async (_, fields) => {
    expect((await assume(fields)).status).toBe(400)
  })
}

const isExposed = (exposed: string[], name: string): boolean =>
  exposed.some((one) => one === name || one === '*' || (one.endsWith('*') && name.startsWith(one.slice(0, -1))))
