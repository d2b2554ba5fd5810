import { createHash, createHmac } from 'node:crypto'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { request as httpRequest } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { AwsClient } from 'aws4fetch'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startObjectStore } from '../../../dev/object-store.ts'
import type { Running } from '../../../dev/server.ts'

const keys = { access_key: 'testkey', secret_key: 'testsecret' }
const client = (options: Partial<ConstructorParameters<typeof AwsClient>[0]> = {}) =>
  new AwsClient({
    accessKeyId: keys.access_key,
    secretAccessKey: keys.secret_key,
    service: 's3',
    region: 'us-east-1',
    retries: 0,
    ...options,
  })

let folder: string
let store: Running
let now = new Date()

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'object-store-test-'))
  store = await startObjectStore({ ...keys, data_dir: folder, now: () => now })
  expect((await client().fetch(`${store.url}/box`, { method: 'PUT' })).status).toBe(200)
})
afterAll(async () => {
  await store.close()
  await rm(folder, { recursive: true, force: true })
})

const put = (key: string, body: string, headers: Record<string, string> = {}) =>
  client().fetch(`${store.url}/box/${key}`, { method: 'PUT', body, headers })
const get = (key: string, headers: Record<string, string> = {}) =>
  client().fetch(`${store.url}/box/${key}`, { headers })
const presign = async (key: string, seconds: number, options = {}) => {
  const url = new URL(`${store.url}/box/${key}`)
  url.searchParams.set('X-Amz-Expires', String(seconds))
  return (await client(options).sign(url.href, { aws: { signQuery: true } })).url
}
const code = async (response: Response) => /<Code>(\w+)<\/Code>/.exec(await response.text())?.[1]

describe('objects', () => {
  test('put, get, head, delete, with metadata and content type', async () => {
    const headers = { 'content-type': 'text/plain', 'x-amz-meta-type': 'plan', 'x-amz-meta-new_file': 'true' }
    const stored = await put('a/b c/ü+(1).txt'.split('/').map(encodeURIComponent).join('/'), 'größe', headers)
    expect(stored.status).toBe(200)
    const read = await get(encodeURI('a/b c/ü+(1).txt').replace('+', '%2B'))
    expect(await read.text()).toBe('größe')
    expect(read.headers.get('content-type')).toBe('text/plain')
    expect(read.headers.get('x-amz-meta-new_file')).toBe('true')
    expect(read.headers.get('etag')).toBe(`"${createHash('md5').update('größe').digest('hex')}"`)
    await put('gone', 'x')
    expect((await client().fetch(`${store.url}/box/gone`, { method: 'HEAD' })).headers.get('content-length')).toBe('1')
    expect((await client().fetch(`${store.url}/box/gone`, { method: 'DELETE' })).status).toBe(204)
    expect((await client().fetch(`${store.url}/box/gone`, { method: 'DELETE' })).status).toBe(204)
    const missing = await get('gone')
    expect([missing.status, await code(missing)]).toEqual([404, 'NoSuchKey'])
  })

  test('an empty object, and a byte of a larger one', async () => {
    await put('empty', '')
    expect(await (await get('empty')).text()).toBe('')
    await put('ten', '0123456789')
    const part = await get('ten', { range: 'bytes=0-0' })
    expect([part.status, await part.text(), part.headers.get('content-range')]).toEqual([206, '0', 'bytes 0-0/10'])
    expect(await (await get('ten', { range: 'bytes=-3' })).text()).toBe('789')
    expect((await get('ten', { range: 'bytes=50-' })).status).toBe(416)
  })

  test('conditions: a lock object is created once, and only its holder replaces it', async () => {
    const attempts = await Promise.all([1, 2, 3, 4].map((n) => put('lock', `holder ${n}`, { 'if-none-match': '*' })))
    expect(attempts.map((response) => response.status).sort()).toEqual([200, 412, 412, 412])
    const etag = (await get('lock')).headers.get('etag') ?? ''
    expect((await put('lock', 'next', { 'if-match': '"0"' })).status).toBe(412)
    expect((await put('lock', 'next', { 'if-match': etag })).status).toBe(200)
    const removal = { method: 'DELETE', headers: { 'if-match': etag } }
    expect((await client().fetch(`${store.url}/box/lock`, removal)).status).toBe(412)
    expect((await get('lock', { 'if-none-match': (await get('lock')).headers.get('etag') ?? '' })).status).toBe(304)
  })

  test('listing: prefixes, paging, order', async () => {
    await client().fetch(`${store.url}/lists`, { method: 'PUT' })
    for (const key of ['b/2', 'a', 'b/1', 'c/x/y', 'd&<>'])
      await client().fetch(`${store.url}/lists/${encodeURIComponent(key).replaceAll('%2F', '/')}`, {
        method: 'PUT',
        body: key,
      })
    const list = async (query: string) => (await client().fetch(`${store.url}/lists?list-type=2&${query}`)).text()
    const keysOf = (xml: string) => [...xml.matchAll(/<Key>(.*?)<\/Key>/g)].map((match) => match[1])
    expect(keysOf(await list(''))).toEqual(['a', 'b/1', 'b/2', 'c/x/y', 'd&amp;&lt;&gt;'])
    const top = await list('delimiter=%2F')
    expect(keysOf(top)).toEqual(['a', 'd&amp;&lt;&gt;'])
    expect([...top.matchAll(/<Prefix>([^<]+)<\/Prefix>/g)].map((match) => match[1])).toEqual(['b/', 'c/'])
    const collected: unknown[] = []
    for (let token: string | undefined = ''; token !== undefined; ) {
      const xml: string = await list(`max-keys=2${token ? `&continuation-token=${token}` : ''}`)
      collected.push(...keysOf(xml))
      token = /<NextContinuationToken>(.*?)</.exec(xml)?.[1]
    }
    expect(collected).toHaveLength(5)
  })

  test('buckets: known, unknown, twice, not empty', async () => {
    const call = (name: string, method: string) => client().fetch(`${store.url}/${name}`, { method })
    expect((await call('box', 'HEAD')).status).toBe(200)
    expect((await call('nothing', 'HEAD')).status).toBe(404)
    expect(await code(await call('box', 'PUT'))).toBe('BucketAlreadyOwnedByYou')
    expect(await code(await call('UPPER', 'PUT'))).toBe('InvalidBucketName')
    await put('keep', '1')
    expect(await code(await call('box', 'DELETE'))).toBe('BucketNotEmpty')
    expect(await code(await client().fetch(`${store.url}/nothing/key`))).toBe('NoSuchBucket')
  })

  test('objects outlive the process', async () => {
    await put('kept', 'still here', { 'x-amz-meta-type': 'drift' })
    const again = await startObjectStore({ ...keys, data_dir: folder })
    try {
      const read = await client().fetch(`${again.url}/box/kept`)
      expect([await read.text(), read.headers.get('x-amz-meta-type')]).toEqual(['still here', 'drift'])
    } finally {
      await again.close()
    }
    expect((await readdir(folder, { recursive: true })).filter((name) => name.endsWith('.tmp'))).toEqual([])
  })
})

describe('signatures', () => {
  test('wrong keys, no signature, a changed request', async () => {
    const refused = async (response: Response) => [response.status, await code(response)]
    const url = `${store.url}/box/keep`
    expect(await refused(await client({ secretAccessKey: 'wrong' }).fetch(url))).toEqual([403, 'SignatureDoesNotMatch'])
    expect(await refused(await client({ accessKeyId: 'other' }).fetch(url))).toEqual([403, 'InvalidAccessKeyId'])
    expect(await refused(await fetch(url))).toEqual([403, 'AccessDenied'])
    const signed = await client().sign(url)
    expect(await refused(await fetch(`${store.url}/box/ten`, { headers: signed.headers }))).toEqual([
      403,
      'SignatureDoesNotMatch',
    ])
    const unsigned = new Headers(signed.headers)
    unsigned.set('x-amz-meta-added', '1')
    expect(await refused(await fetch(url, { headers: unsigned }))).toEqual([403, 'AccessDenied'])
  })

  test('a clock that is far off', async () => {
    now = new Date(Date.now() + 16 * 60_000)
    const response = await get('keep')
    now = new Date()
    expect([response.status, await code(response)]).toEqual([403, 'RequestTimeTooSkewed'])
  })

  test('a body that is not the signed one', async () => {
    const url = `${store.url}/box/body`
    const hash = createHash('sha256').update('signed').digest('hex')
    const signed = await client().sign(url, {
      method: 'PUT',
      body: 'signed',
      headers: { 'x-amz-content-sha256': hash },
    })
    const response = await fetch(url, { method: 'PUT', body: 'other', headers: signed.headers })
    expect([response.status, await code(response)]).toEqual([400, 'XAmzContentSHA256Mismatch'])
    const md5 = await put('body', 'text', { 'content-md5': 'AAAAAAAAAAAAAAAAAAAAAA==' })
    expect(await code(md5)).toBe('BadDigest')
    expect((await get('body')).status).toBe(404)
  })

  test('presigned URLs: good for GET, for one key, until they expire', async () => {
    await put('shown', 'visible', { 'content-type': 'text/plain' })
    const url = await presign('shown', 60)
    const opened = await fetch(url)
    expect([opened.status, await opened.text(), opened.headers.get('content-disposition')]).toEqual([
      200,
      'visible',
      null,
    ])
    expect((await fetch(url, { headers: { range: 'bytes=0-0' } })).status).toBe(206)
    expect((await fetch(url, { method: 'HEAD' })).status).toBe(403)
    expect((await fetch(url, { method: 'DELETE' })).status).toBe(403)
    expect((await fetch(url.replace('shown', 'keep'))).status).toBe(403)
    expect((await fetch(url.replace('X-Amz-Expires=60', 'X-Amz-Expires=604800'))).status).toBe(403)
    expect((await fetch(await presign('shown', 60, { secretAccessKey: 'wrong' }))).status).toBe(403)
    expect((await fetch(await presign('shown', 604_801))).status).toBe(400)
    now = new Date(Date.now() + 61_000)
    const expired = await fetch(url)
    now = new Date()
    expect([expired.status, await expired.text()]).toEqual([403, expect.stringContaining('Request has expired')])
  })
})

describe('chunked uploads', () => {
  const hmac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text).digest()
  const sha = (data: string) => createHash('sha256').update(data).digest('hex')

  async function send(
    key: string,
    payload: string,
    frame: (seed: { signature: string; scope: string; date: string }) => string,
    length: number,
  ) {
    const url = `${store.url}/box/${key}`
    const headers = {
      'x-amz-content-sha256': payload,
      'x-amz-decoded-content-length': String(length),
      'content-encoding': 'aws-chunked',
    }
    const signed = await client().sign(url, { method: 'PUT', headers })
    const authorization = signed.headers.get('authorization') ?? ''
    const seed = {
      signature: /Signature=(\w+)/.exec(authorization)?.[1] ?? '',
      scope: /Credential=[^/]+\/([^,]+)/.exec(authorization)?.[1] ?? '',
      date: signed.headers.get('x-amz-date') ?? '',
    }
    return new Promise<number>((resolve, reject) => {
      const call = httpRequest(url, { method: 'PUT', headers: Object.fromEntries(signed.headers) }, (response) => {
        response.resume()
        resolve(response.statusCode ?? 0)
      })
      call.once('error', reject)
      call.end(frame(seed))
    })
  }

  test('unsigned chunks with a trailing checksum', async () => {
    const checksum = (text: string) => {
      const bytes = Buffer.alloc(4)
      bytes.writeUInt32BE(crc32(text))
      return bytes.toString('base64')
    }
    const frame = (text: string) => () =>
      `5\r\nhello\r\n6\r\n world\r\n0\r\nx-amz-checksum-crc32:${checksum(text)}\r\n\r\n`
    expect(await send('chunked', 'STREAMING-UNSIGNED-PAYLOAD-TRAILER', frame('hello world'), 11)).toBe(200)
    const read = await get('chunked')
    expect([await read.text(), read.headers.get('content-encoding')]).toEqual(['hello world', null])
    expect(await send('chunked2', 'STREAMING-UNSIGNED-PAYLOAD-TRAILER', frame('hello worlds'), 11)).toBe(400)
    expect(await send('chunked2', 'STREAMING-UNSIGNED-PAYLOAD-TRAILER', frame('hello world'), 12)).toBe(400)
    expect((await get('chunked2')).status).toBe(404)
  })

  test('signed chunks; one wrong signature refuses the whole', async () => {
    const frame = (secret: string) => (seed: { signature: string; scope: string; date: string }) => {
      const key = seed.scope.split('/').reduce<string | Buffer>(hmac, `AWS4${secret}`) as Buffer
      let previous = seed.signature
      return ['hello', ''].reduce((text, chunk) => {
        const string = ['AWS4-HMAC-SHA256-PAYLOAD', seed.date, seed.scope, previous, sha(''), sha(chunk)].join('\n')
        previous = hmac(key, string).toString('hex')
        return `${text}${chunk.length.toString(16)};chunk-signature=${previous}\r\n${chunk}\r\n`
      }, '')
    }
    expect(await send('signed', 'STREAMING-AWS4-HMAC-SHA256-PAYLOAD', frame(keys.secret_key), 5)).toBe(200)
    expect(await (await get('signed')).text()).toBe('hello')
    expect(await send('signed2', 'STREAMING-AWS4-HMAC-SHA256-PAYLOAD', frame('wrong'), 5)).toBe(403)
  })
})

describe('browsers', () => {
  test('preflight and exposed headers', async () => {
    await put('cors', 'x', { 'x-amz-meta-type': 'plan' })
    const url = await presign('cors', 60)
    const origin = { origin: 'http://localhost:5173' }
    const asked = { ...origin, 'access-control-request-method': 'GET', 'access-control-request-headers': 'range' }
    const preflight = await fetch(url, { method: 'OPTIONS', headers: asked })
    expect([preflight.status, preflight.headers.get('access-control-allow-headers')]).toEqual([200, 'range'])
    const read = await fetch(url, { headers: { ...origin, range: 'bytes=0-0' } })
    expect(read.headers.get('access-control-allow-origin')).toBe('*')
    expect(read.headers.get('access-control-expose-headers')).toMatch(/x-amz-meta-type, x-amz-meta-new_file/)
    const put_asked = { ...origin, 'access-control-request-method': 'PUT' }
    expect((await fetch(url, { method: 'OPTIONS', headers: put_asked })).status).toBe(403)
  })

  test('a list of origins keeps others out', async () => {
    const strict = await startObjectStore({ ...keys, cors_origins: ['http://localhost'] })
    try {
      const allow = async (origin: string) =>
        (await fetch(`${strict.url}/box/x`, { headers: { origin } })).headers.get('access-control-allow-origin')
      expect([await allow('http://localhost'), await allow('http://localhost:3000')]).toEqual([
        'http://localhost',
        null,
      ])
    } finally {
      await strict.close()
    }
  })
})
