import { describe, expect, it } from 'vitest'
import { startObjectStore } from '../../../dev/object-store.ts'
import { silentLogger } from '../../../src/base/log.ts'
import { createObjectStore } from '../../../src/data/storage/create.ts'
import { startOnce } from '../../helpers/start-once.ts'
import { ODD_KEYS, refused, storageConfig, TEXT } from './config.ts'

const keys = { access_key: 'access-key', secret_key: 'secret-key' }
const server = startOnce(() => startObjectStore(keys))

/** Returns a second host name of the store, as browsers use it. */
const publicUrl = () => server.url.replace('127.0.0.1', 'localhost')
const storeOf = (overrides: Parameters<typeof storageConfig>[0] = {}, now?: () => Date) =>
  createObjectStore(storageConfig({ endpoint_url: `${server.url}/`, public_endpoint_url: publicUrl(), ...overrides }), {
    fetch,
    log: silentLogger,
    now,
  })

describe('a bundled store that checks signatures', () => {
  it('gets both buckets, and finds them the second time', async () => {
    const store = storeOf({ bucket: 'artifacts-a', engine_state_bucket: 'state-a' })
    await store.ensureBuckets()
    await store.ensureBuckets()
    await store.put('x', '1', TEXT)
    await storeOf({ bucket: 'state-a' }).put('y', '2', TEXT)
  })

  it('gets no state bucket when state is not managed', async () => {
    await storeOf({ bucket: 'artifacts-b', engine_state_bucket: '' }).ensureBuckets()
    const upload = storeOf({ bucket: 'platform-terraform-state' }).put('y', '2', TEXT)
    await expect(upload).rejects.toMatchObject(refused('upload of y', '404 NoSuchBucket'))
  })

  it('keeps what is put, under any key, and answers the size in bytes', async () => {
    const store = storeOf()
    await store.ensureBuckets()
    const key = "sessions/1/rounds/2/changes/ab12-Größe (1)+'x'!*.tf"
    expect(await store.put(key, 'größe', TEXT)).toBe(7)
    expect(new TextDecoder().decode(await store.get(key))).toBe('größe')
    const url = await store.presign(key)
    expect(await (await fetch(url)).text()).toBe('größe')
    await store.delete(key)
    await store.delete(key)
    await expect(store.get(key)).rejects.toMatchObject({ status: 404, message: `Object not found: ${key}` })
  })

  it('lists what is below a prefix, in pages of a thousand at most', async () => {
    const store = storeOf({ bucket: 'listed' })
    await store.ensureBuckets()
    const keys = ['sessions/a/rounds/1/plans/1.txt', "sessions/a/rounds/1/changes/ä & <b>'.tf", 'sessions/a/x']
    for (const key of [...keys, 'sessions/ab/x', 'sessions/b/x']) await store.put(key, '1', TEXT)
    expect((await store.list('sessions/a/')).sort()).toEqual(keys.toSorted())
    expect(await store.list('sessions/c/')).toEqual([])
    await expect(storeOf({ bucket: 'absent' }).list('sessions/')).rejects.toMatchObject(
      refused('list of sessions/', '404 NoSuchBucket'),
    )
  })

  it.each([
    ...ODD_KEYS,
    'quotes\'()*!~"<>[]{}|^`\\.txt',
    'trailing/',
  ])('signs requests and URLs for the key %j', async (key) => {
    const store = storeOf()
    await store.ensureBuckets()
    await store.put(key, key, { ...TEXT, metadata: { type: 'plan' } })
    expect(new TextDecoder().decode(await store.get(key))).toBe(key)
    const answer = await fetch(await store.presign(key))
    expect([answer.status, await answer.text(), answer.headers.get('x-amz-meta-type')]).toEqual([200, key, 'plan'])
    await store.delete(key)
    await expect(store.get(key)).rejects.toMatchObject({ status: 404 })
  })

  it.each(['../other', 'a/../b', './a', 'a/.'])('refuses the key %j, which would name another object', async (key) => {
    await expect(storeOf().put(key, 'x', TEXT)).rejects.toThrow('a key must not have dot segments')
    await expect(storeOf().presign(key)).rejects.toThrow('a key must not have dot segments')
  })

  it('presigns for the public host, readable inline with metadata by a ranged GET', async () => {
    const store = storeOf()
    await store.ensureBuckets()
    const metadata = { type: 'plan', new_file: 'true' }
    await store.put('plans/1.txt', 'Plan: 1 to add', { ...TEXT, metadata })
    const url = new URL(await store.presign('plans/1.txt'))
    expect(url.origin).toBe(publicUrl())
    expect(url.pathname).toBe('/platform-artifacts/plans/1.txt')
    expect(url.searchParams.get('X-Amz-Expires')).toBe('172800')
    expect([...url.searchParams.keys()].some((name) => name.startsWith('response-'))).toBe(false)
    const answer = await fetch(url, { headers: { range: 'bytes=0-0' } })
    expect(answer.status).toBe(206)
    expect(answer.headers.get('content-type')).toBe('text/plain')
    expect(answer.headers.get(`${store.metadataPrefix}type`)).toBe('plan')
    expect(answer.headers.get('x-amz-meta-new_file')).toBe('true')
    expect(answer.headers.get('content-disposition')).toBeNull()
  })

  it('presigns for one host, one method and one object only', async () => {
    const store = storeOf()
    await store.ensureBuckets()
    await store.put('a', 'a', TEXT)
    await store.put('b', 'b', TEXT)
    const url = await store.presign('a')
    expect((await fetch(url)).status).toBe(200)
    expect((await fetch(url, { method: 'HEAD' })).status).toBe(403)
    expect((await fetch(url.replace('/a?', '/b?'))).status).toBe(403)
    expect((await fetch(url.replace('localhost', '127.0.0.1'))).status).toBe(403)
  })

  it('presigns until the expiry', async () => {
    const ago = (seconds: number) => () => new Date(Date.now() - seconds * 1000)
    await storeOf().ensureBuckets()
    await storeOf().put('late', 'x', TEXT)
    const url = (seconds: number) => storeOf({ presign_expiry_seconds: 108_000 }, ago(seconds)).presign('late')
    expect((await fetch(await url(107_000))).status).toBe(200)
    expect((await fetch(await url(109_000))).status).toBe(403)
  })

  it('is refused with the wrong keys', async () => {
    const store = storeOf({ secret_key: 'another' })
    const refusal = refused('upload of x', '403 SignatureDoesNotMatch')
    await expect(store.put('x', 'y', TEXT)).rejects.toMatchObject(refusal)
    await expect(store.ensureBuckets()).rejects.toMatchObject({
      status: 500,
      message: 'The object store refuses access to bucket platform-artifacts (403 SignatureDoesNotMatch).',
    })
  })
})
