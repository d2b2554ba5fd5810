import { createHash } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { describePages, describeSignatures, describeTemporaryKeys } from './access.ts'
import { BUCKET, clientOf, createClient, outcome, type StoreClient, type StoreUnderTest } from './client.ts'

/**
 * Tests the features of an S3 store that the platform, its engines and browsers rely on. They run against the
 * development store of the project and, in `npm run world`, against MinIO.
 */
export function describeStore(title: string, start: () => Promise<StoreUnderTest>): void {
  let store: StoreUnderTest
  const client = createClient(() => store)
  describe(title, () => {
    beforeAll(async () => {
      store = await start()
      expect((await client.call('PUT', BUCKET)).status).toBe(200)
    })
    afterAll(() => store?.close())
    describe('buckets', () => describeBuckets(client))
    describe('keys', () => describeKeys(client))
    describe('objects', () => describeObjects(client))
    describe('lists', () => describeLists(client))
    describe('multipart uploads', () => describeMultipart(client))
    describe('signatures', () => describeSignatures(client))
    describe('web pages', () => describePages(client))
    describe('temporary keys', () => describeTemporaryKeys(client))
  })
}

const PART_BYTES = 5 * 1024 * 1024

const encodeAll = (text: string): string =>
  encodeURIComponent(text).replaceAll(/[!'()*]/g, (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`)

function describeBuckets(store: StoreClient): void {
  const { call } = store
  it.each([
    ['HEAD', BUCKET, 200, ''],
    ['HEAD', 'no-such-bucket', 404, ''],
    ['PUT', BUCKET, 409, 'BucketAlreadyOwnedByYou'],
    ['PUT', 'UPPER', 400, 'InvalidBucketName'],
    ['PUT', 'a', 400, 'InvalidBucketName'],
    ['GET', 'no-such-bucket/key', 404, 'NoSuchBucket'],
    ['PUT', 'no-such-bucket/key', 404, 'NoSuchBucket'],
    ['GET', 'no-such-bucket?list-type=2', 404, 'NoSuchBucket'],
  ])('%s %s', async (method, path, status, code) => {
    expect(await outcome(await call(method, path))).toEqual([status, code])
  })
}

function describeKeys(store: StoreClient): void {
  const { call, get, presign, put } = store
  it.each([
    'a b/c  d.txt',
    'größe/日本語/🚀.tf',
    '100%.txt',
    'a%2Fb%20c%41.txt',
    'a+b=c&d?e#f;g:h@i,j$k.txt',
    'quotes\'()*!~"<>[]{}|^`.txt',
    '...dots../.hidden',
    `long/${'x'.repeat(200)}/${'y'.repeat(200)}`,
  ])('%j', async (key) => {
    const path = key.split('/').map(encodeAll).join('/')
    expect((await put(path, key)).status).toBe(200)
    expect(await (await get(path)).text()).toBe(key)
    expect(await (await fetch(await presign(path, 60))).text()).toBe(key)
    const listed = await (await call('GET', `${BUCKET}?list-type=2&prefix=${encodeAll(key)}&encoding-type=url`)).text()
    expect(decodeURIComponent((/<Key>(.*?)<\/Key>/.exec(listed)?.[1] ?? '').replaceAll('+', ' '))).toBe(key)
    expect((await call('DELETE', `${BUCKET}/${path}`)).status).toBe(204)
    expect((await get(path)).status).toBe(404)
  })
}

function describeObjects(store: StoreClient): void {
  const { call, get, owner, put } = store
  it('keep bytes, type and metadata', async () => {
    const headers = { 'content-type': 'text/plain', 'x-amz-meta-type': 'plan', 'x-amz-meta-new_file': 'true' }
    const stored = await put('kept', 'größe', headers)
    const tag = `"${createHash('md5').update('größe').digest('hex')}"`
    expect([stored.status, stored.headers.get('etag')]).toEqual([200, tag])
    for (const method of ['GET', 'HEAD']) {
      const read = await call(method, `${BUCKET}/kept`)
      expect(Object.fromEntries(read.headers)).toMatchObject({ ...headers, etag: tag, 'accept-ranges': 'bytes' })
      expect(read.headers.get('content-length')).toBe('7')
      expect(Date.parse(read.headers.get('last-modified') ?? '')).toBeGreaterThan(Date.now() - 60_000)
      expect(await read.text()).toBe(method === 'GET' ? 'größe' : '')
    }
  })

  it('without a type are bytes', async () => {
    await put('untyped', new Uint8Array([1, 2]))
    expect((await get('untyped')).headers.get('content-type')).toBe('binary/octet-stream')
  })

  it('are removed, and may be missing then', async () => {
    await put('gone', 'x')
    expect((await call('DELETE', `${BUCKET}/gone`)).status).toBe(204)
    expect((await call('DELETE', `${BUCKET}/gone`)).status).toBe(204)
    expect(await outcome(await get('gone'))).toEqual([404, 'NoSuchKey'])
    expect((await call('HEAD', `${BUCKET}/gone`)).status).toBe(404)
  })

  it.each([
    ['bytes=0-0', 206, '0', 'bytes 0-0/10'],
    ['bytes=7-', 206, '789', 'bytes 7-9/10'],
    ['bytes=-3', 206, '789', 'bytes 7-9/10'],
    ['bytes=-30', 206, '0123456789', 'bytes 0-9/10'],
    ['bytes=8-99', 206, '89', 'bytes 8-9/10'],
    ['lines=1-2', 200, '0123456789', null],
    ['bytes=0-1,4-5', 200, '0123456789', null],
  ])('are read in the range %s', async (range, status, text, place) => {
    await put('ten', '0123456789')
    const part = await get('ten', { range })
    expect([part.status, await part.text(), part.headers.get('content-range')]).toEqual([status, text, place])
  })

  it.each([
    ['ten', 'bytes=10-'],
    ['ten', 'bytes=-0'],
    ['ten', 'bytes=5-2'],
    ['empty', 'bytes=0-0'],
  ])('of the name %s have no bytes at %s', async (key, range) => {
    await put('ten', '0123456789')
    await put('empty', '')
    expect(await outcome(await get(key, { range }))).toEqual([416, 'InvalidRange'])
  })

  it('may be empty', async () => {
    await put('empty', '')
    expect(await outcome(await get('empty'))).toEqual([200, ''])
  })

  it('are written once with If-None-Match', async () => {
    await call('DELETE', `${BUCKET}/lock`)
    const tries = await Promise.all([1, 2, 3, 4, 5].map((n) => put('lock', `holder ${n}`, { 'if-none-match': '*' })))
    expect((await Promise.all(tries.map(outcome))).sort()).toEqual([
      [200, ''],
      ...Array(4).fill([412, 'PreconditionFailed']),
    ])
    await call('DELETE', `${BUCKET}/lock`)
    expect((await put('lock', 'next', { 'if-none-match': '*' })).status).toBe(200)
  })

  it('are refused when they are not what was signed or announced', async () => {
    const hash = createHash('sha256').update('signed').digest('hex')
    const headers = { 'x-amz-content-sha256': hash }
    const signed = await clientOf(owner()).sign(`${store.url}/${BUCKET}/other`, {
      method: 'PUT',
      body: 'signed',
      headers,
    })
    const changed = await fetch(signed.url, { method: 'PUT', body: 'foiled', headers: signed.headers })
    expect(await outcome(changed)).toEqual([400, 'XAmzContentSHA256Mismatch'])
    const md5 = { 'content-md5': createHash('md5').update('another').digest('base64') }
    expect(await outcome(await put('other', 'text', md5))).toEqual([400, 'BadDigest'])
    const wrong = { sha256: createHash('sha256').update('another').digest('base64'), crc32: 'AAAAAA==' }
    for (const [checksum, value] of Object.entries(wrong))
      expect([
        checksum,
        ...(await outcome(await put('other', 'text', { [`x-amz-checksum-${checksum}`]: value }))),
      ]).toEqual([checksum, 400, expect.stringMatching(/BadDigest|XAmzContentChecksumMismatch/)])
    expect((await get('other')).status).toBe(404)
  })

  it('outlive the server', async () => {
    await put('durable', 'still here', { 'x-amz-meta-type': 'drift' })
    await store.restart()
    const read = await get('durable')
    expect([await read.text(), read.headers.get('x-amz-meta-type')]).toEqual(['still here', 'drift'])
  })
}

function describeLists(store: StoreClient): void {
  const { call } = store
  const keysOf = (xml: string) => [...xml.matchAll(/<Key>(.*?)<\/Key>/g)].map((match) => match[1])
  const list = async (query: string) => (await call('GET', `lists?list-type=2&${query}`)).text()
  beforeAll(async () => {
    await call('PUT', 'lists')
    for (const key of ['b/2', 'a', 'b/1', 'c/x/y', 'd&<>', 'Z'])
      await call('PUT', `lists/${key.split('/').map(encodeAll).join('/')}`, { body: key })
  })

  it('are in the order of bytes, and by prefix', async () => {
    expect(keysOf(await list(''))).toEqual(['Z', 'a', 'b/1', 'b/2', 'c/x/y', 'd&amp;&lt;&gt;'])
    expect(keysOf(await list('prefix=b%2F'))).toEqual(['b/1', 'b/2'])
    expect(await list('prefix=nothing')).toContain('<KeyCount>0</KeyCount>')
    expect(keysOf(await list('max-keys=0'))).toEqual([])
  })

  it('come in pages', async () => {
    const collected: unknown[] = []
    for (let token: string | undefined = ''; token !== undefined; ) {
      const xml = await list(`max-keys=2${token ? `&continuation-token=${encodeAll(token)}` : ''}`)
      collected.push(...keysOf(xml))
      token = /<NextContinuationToken>(.*?)</.exec(xml)?.[1]
    }
    expect(collected).toEqual(keysOf(await list('')))
  })

  it.each(['max-keys=-1', 'max-keys=x'])('refuse %s', async (query) => {
    expect(await outcome(await call('GET', `lists?list-type=2&${query}`))).toEqual([400, 'InvalidArgument'])
  })
}

function describeMultipart(store: StoreClient): void {
  const { call, get } = store
  const at = (key: string, query: string) => `${BUCKET}/${key}?${query}`
  const begin = async (key: string, headers: Record<string, string> = {}) => {
    const text = await (await call('POST', at(key, 'uploads='), { headers })).text()
    return /<UploadId>(.*?)</.exec(text)?.[1] ?? ''
  }
  const part = async (key: string, id: string, number: number, body: BodyInit) =>
    (await call('PUT', at(key, `partNumber=${number}&uploadId=${id}`), { body })).headers.get('etag') ?? ''
  const complete = (key: string, id: string, tags: [number, string][]) => {
    const parts = tags.map(([number, tag]) => `<Part><PartNumber>${number}</PartNumber><ETag>${tag}</ETag></Part>`)
    const body = `<CompleteMultipartUpload>${parts.join('')}</CompleteMultipartUpload>`
    return call('POST', at(key, `uploadId=${id}`), { body })
  }

  it('appear when they are completed', async () => {
    const first = new Uint8Array(PART_BYTES).fill(97)
    const id = await begin('parts', { 'content-type': 'text/plain', 'x-amz-meta-type': 'plan' })
    const tags: [number, string][] = [
      [1, await part('parts', id, 1, first)],
      [2, await part('parts', id, 2, 'the end')],
    ]
    expect((await get('parts')).status).toBe(404)
    const done = await complete('parts', id, tags)
    expect([done.status, /<ETag>(.*?)</.exec(await done.text())?.[1]]).toEqual([
      200,
      expect.stringMatching(/^(&#34;|&quot;|")[0-9a-f]{32}-2(&#34;|&quot;|")$/),
    ])
    const read = await get('parts')
    const headers = { 'content-type': 'text/plain', 'x-amz-meta-type': 'plan' }
    expect(Object.fromEntries(read.headers)).toMatchObject(headers)
    expect((await read.text()).length).toBe(PART_BYTES + 7)
    expect(await (await get('parts', { range: 'bytes=-3' })).text()).toBe('end')
    expect(await outcome(await complete('parts', id, tags))).toEqual([404, 'NoSuchUpload'])
  })

  it('are refused with parts that are missing or others, and end', async () => {
    const id = await begin('faulty')
    const [one, two] = [await part('faulty', id, 1, 'small'), await part('faulty', id, 2, 'small too')]
    const refused = async (...tags: [number, string][]) => outcome(await complete('faulty', id, tags))
    expect(await refused([1, one], [3, two])).toEqual([400, 'InvalidPart'])
    expect(await refused([1, two])).toEqual([400, 'InvalidPart'])
    expect(await refused()).toEqual([400, expect.stringMatching(/MalformedXML|InvalidRequest/)])
    expect((await call('DELETE', at('faulty', `uploadId=${id}`))).status).toBe(204)
    expect(await refused([1, one])).toEqual([404, 'NoSuchUpload'])
  })
}
