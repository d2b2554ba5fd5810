import { beforeAll, describe, expect, it } from 'vitest'
import { createLogger } from '../../../src/base/log.ts'
import { ODD_KEYS, refused, TEXT } from '../../data/storage/config.ts'
import { byHost, byPath, loopbackFetch, storeOf } from './support.ts'

const textOf = (bytes: Uint8Array) => new TextDecoder().decode(bytes)

describe('containers', () => {
  it('are created when absent, both of them, and found the second time', async () => {
    const lines: string[] = []
    const names = { bucket: 'artifacts-new', engine_state_bucket: 'state-new' }
    const store = storeOf(names, { log: createLogger({ write: (line) => lines.push(JSON.parse(line).container) }) })
    await expect(store.put('k', 'x', TEXT)).rejects.toMatchObject(refused('upload of k', '404 ContainerNotFound'))
    await store.ensureBuckets()
    await store.ensureBuckets()
    expect(lines).toEqual(['artifacts-new', 'state-new'])
    await store.put('k', 'x', TEXT)
    await storeOf({ bucket: 'state-new' }).put('k', 'x', TEXT)
  })

  it('without managed state are one', async () => {
    await storeOf({ bucket: 'artifacts-only', engine_state_bucket: '' }).ensureBuckets()
    const read = storeOf({ bucket: 'platform-terraform-state-none' }).get('k')
    await expect(read).rejects.toMatchObject(refused('read of k', '404 ContainerNotFound'))
  })

  it('with a name that is none are refused', async () => {
    await expect(storeOf({ bucket: 'Not_A_Name' }).ensureBuckets()).rejects.toMatchObject({
      status: 500,
      message: expect.stringMatching(/^The object store refused the creation of container Not_A_Name \(400 /),
    })
  })
})

describe.each([
  ['by path', byPath, fetch],
  ['by host', byHost, loopbackFetch],
] as const)('an account named %s', (_name, endpoints, fetcher) => {
  const store = (overrides = {}, now?: () => Date) => storeOf({ ...endpoints, ...overrides }, { fetch: fetcher, now })
  beforeAll(() => store().ensureBuckets())

  it('keeps what is put, replaces it, and answers the size in bytes', async () => {
    expect(await store().put('plans/1.txt', 'größe', TEXT)).toBe(7)
    expect(await store().put('plans/1.txt', '', TEXT)).toBe(0)
    expect(textOf(await store().get('plans/1.txt'))).toBe('')
    await store().put('plans/1.txt', 'again', TEXT)
    expect(textOf(await store().get('plans/1.txt'))).toBe('again')
  })

  it('presigns for the public host, readable inline with metadata by a ranged GET', async () => {
    await store().put('shown.txt', 'Plan: 1 to add', { ...TEXT, metadata: { type: 'plan', new_file: 'true' } })
    const url = new URL(await store().presign('shown.txt'))
    expect(url.origin).toBe(new URL(endpoints.public_endpoint_url).origin)
    expect([...url.searchParams.keys()].sort()).toEqual(['se', 'sig', 'sp', 'sr', 'sv'])
    const whole = await fetcher(url)
    expect([whole.status, await whole.text(), whole.headers.get('content-type')]).toEqual([
      200,
      'Plan: 1 to add',
      'text/plain',
    ])
    expect(whole.headers.get('content-disposition')).toBeNull()
    const first = await fetcher(url, { headers: { range: 'bytes=0-0' } })
    expect([first.status, await first.text()]).toEqual([206, 'P'])
    expect(first.headers.get(`${store().metadataPrefix}type`)).toBe('plan')
    expect(first.headers.get('x-ms-meta-new_file')).toBe('true')
  })

  it('presigns for reading one object only; a look at its headers is reading here', async () => {
    await store().put('one', '1', TEXT)
    await store().put('other', '2', TEXT)
    const url = await store().presign('one')
    const status = async (address: string, init?: RequestInit) => (await fetcher(address, init)).status
    expect(await status(url)).toBe(200)
    expect(await status(url, { method: 'HEAD' })).toBe(200)
    expect(await status(url, { method: 'DELETE' })).toBe(403)
    expect(await status(url, { method: 'PUT', body: 'x', headers: { 'x-ms-blob-type': 'BlockBlob' } })).toBe(403)
    expect(await status(url.replace('/one?', '/other?'))).toBe(403)
    expect(await status(url.replace('sp=r', 'sp=rw'))).toBe(403)
    expect([401, 403, 404]).toContain(await status(url.replace(/\?.*/, '')))
    expect(textOf(await store().get('one'))).toBe('1')
  })

  it('presigns until the expiry', async () => {
    const ago = (seconds: number) => () => new Date(Date.now() - seconds * 1000)
    await store().put('late', 'x', TEXT)
    const url = (seconds: number) => store({ presign_expiry_seconds: 108_000 }, ago(seconds)).presign('late')
    expect((await fetcher(await url(107_000))).status).toBe(200)
    expect((await fetcher(await url(109_000))).status).toBe(403)
    const moved = (await url(109_000)).replace(/se=[^&]+/, 'se=2099-01-01T00%3A00%3A00Z')
    expect((await fetcher(moved)).status).toBe(403)
  })

  it('refuses another key and another account', async () => {
    for (const other of [{ account_key: btoa('another key') }, { account_name: 'another' }]) {
      await expect(store(other).put('k', 'x', TEXT)).rejects.toMatchObject({
        status: 500,
        message: expect.stringMatching(/^The object store refused the upload of k \(403 Auth/),
      })
      await expect(store(other).ensureBuckets()).rejects.toMatchObject({
        status: 500,
        message: expect.stringMatching(
          /^The object store refused the creation of container platform-artifacts \(403 Auth/,
        ),
      })
      expect((await fetcher(await store(other).presign('shown.txt'))).status).toBe(403)
    }
  })

  it('has no object that is missing', async () => {
    await expect(store().get('missing')).rejects.toMatchObject({ status: 404, message: 'Object not found: missing' })
    await store().delete('missing')
    expect((await fetcher(await store().presign('missing'))).status).toBe(404)
  })

  it.each([...ODD_KEYS, 'quotes\'()*!~"<>[]{}|^`.txt'])('signs requests and URLs for the key %j', async (key) => {
    await store().put(key, key, { ...TEXT, metadata: { type: 'plan' } })
    expect(textOf(await store().get(key))).toBe(key)
    const answer = await fetcher(await store().presign(key))
    expect([answer.status, await answer.text(), answer.headers.get('x-ms-meta-type')]).toEqual([200, key, 'plan'])
    expect(await store().list(key.slice(0, 3))).toContain(key)
    await store().delete(key)
    expect(await store().list(key.slice(0, 3))).not.toContain(key)
    await expect(store().get(key)).rejects.toMatchObject({ status: 404 })
  })

  it('takes a large body whole', async () => {
    const body = new Uint8Array(40 * 1024 * 1024).map((_, index) => (index * 31) % 251)
    expect(await store().put('large', body, { content_type: 'application/octet-stream' })).toBe(body.byteLength)
    expect(Buffer.compare(await store().get('large'), body)).toBe(0)
    await store().delete('large')
  })
})
