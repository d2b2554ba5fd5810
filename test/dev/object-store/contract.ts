import { createHash } from 'node:crypto'
import { AwsClient } from 'aws4fetch'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

export interface StoreUnderTest {
  url: string
  access_key: string
  secret_key: string
  /** The one origin of web pages that may read. */
  origin: string
  /** Ends the server and starts it again on the same data; answers its address. */
  restart(): Promise<string>
  close(): Promise<void>
}

interface Keys {
  accessKeyId: string
  secretAccessKey: string
  sessionToken?: string
}

/** Status and error code of an answer. */
const outcome = async (response: Response): Promise<[number, string]> => [
  response.status,
  /<Code>(\w+)<\/Code>/.exec(await response.text())?.[1] ?? '',
]

const PART_BYTES = 5 * 1024 * 1024
const BUCKET = 'contract'

/**
 * What the platform, its engines and browsers rely on in a store with the interface of S3. The same tests run against
 * the store that the project brings for development and, in `npm run world`, against MinIO.
 */
export function describeStore(title: string, start: () => Promise<StoreUnderTest>): void {
  let store: StoreUnderTest
  let url = ''
  const clientOf = (keys?: Keys, region = 'us-east-1') =>
    new AwsClient({
      ...(keys ?? { accessKeyId: store.access_key, secretAccessKey: store.secret_key }),
      service: 's3',
      region,
      retries: 0,
    })
  const call = (method: string, path: string, init: { body?: BodyInit; headers?: Record<string, string> } = {}) =>
    clientOf().fetch(`${url}/${path}`, { method, ...init })
  const put = (key: string, body: BodyInit, headers: Record<string, string> = {}) =>
    call('PUT', `${BUCKET}/${key}`, { body, headers })
  const get = (key: string, headers: Record<string, string> = {}) => call('GET', `${BUCKET}/${key}`, { headers })
  const presign = async (key: string, seconds: number, at = new Date(), keys?: Keys) => {
    const target = `${url}/${BUCKET}/${key}?X-Amz-Expires=${seconds}`
    const datetime = at.toISOString().replaceAll(/[:-]|\.\d{3}/g, '')
    return (await clientOf(keys).sign(target, { aws: { signQuery: true, datetime } })).url
  }

  describe(title, () => {
    beforeAll(async () => {
      store = await start()
      url = store.url
      expect((await call('PUT', BUCKET)).status).toBe(200)
    })
    afterAll(() => store?.close())

    describe('buckets', () => {
      it.each([
        ['HEAD', BUCKET, 200, ''],
        ['HEAD', 'no-such-bucket', 404, ''],
        ['PUT', BUCKET, 409, 'BucketAlreadyOwnedByYou'],
        ['PUT', 'UPPER', 400, 'InvalidBucketName'],
        ['PUT', 'a', 400, 'InvalidBucketName'],
        ['GET', 'no-such-bucket/key', 404, 'NoSuchBucket'],
        ['PUT', 'no-such-bucket/key', 404, 'NoSuchBucket'],
        ['DELETE', 'no-such-bucket/key', 404, 'NoSuchBucket'],
        ['GET', 'no-such-bucket?list-type=2', 404, 'NoSuchBucket'],
        ['DELETE', 'no-such-bucket', 404, 'NoSuchBucket'],
      ])('%s %s', async (method, path, status, code) => {
        expect(await outcome(await call(method, path))).toEqual([status, code])
      })

      it('are removed when they are empty', async () => {
        await call('PUT', 'short-lived')
        await call('PUT', 'short-lived/x', { body: 'x' })
        expect(await outcome(await call('DELETE', 'short-lived'))).toEqual([409, 'BucketNotEmpty'])
        await call('DELETE', 'short-lived/x')
        expect((await call('DELETE', 'short-lived')).status).toBe(204)
        expect((await call('HEAD', 'short-lived')).status).toBe(404)
      })
    })

    describe('objects', () => {
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

      it('have no bytes behind their end', async () => {
        await put('ten', '0123456789')
        await put('empty', '')
        expect(await outcome(await get('ten', { range: 'bytes=10-' }))).toEqual([416, 'InvalidRange'])
        expect(await outcome(await get('ten', { range: 'bytes=-0' }))).toEqual([416, 'InvalidRange'])
        expect(await outcome(await get('empty', { range: 'bytes=0-0' }))).toEqual([416, 'InvalidRange'])
        expect(await outcome(await get('ten', { range: 'bytes=5-2' }))).toEqual([416, 'InvalidRange'])
        expect([(await get('empty')).status, await (await get('empty')).text()]).toEqual([200, ''])
      })

      it('are read again only when they have changed', async () => {
        await put('cached', 'x')
        const { headers } = await get('cached')
        const tag = headers.get('etag') ?? ''
        expect((await get('cached', { 'if-none-match': tag })).status).toBe(304)
        expect((await get('cached', { 'if-match': tag })).status).toBe(200)
        expect(await outcome(await get('cached', { 'if-match': '"0"' }))).toEqual([412, 'PreconditionFailed'])
        expect((await get('cached', { 'if-modified-since': headers.get('last-modified') ?? '' })).status).toBe(304)
        const old = new Date(0).toUTCString()
        expect(await outcome(await get('cached', { 'if-unmodified-since': old }))).toEqual([412, 'PreconditionFailed'])
      })

      it('are written once with If-None-Match', async () => {
        await call('DELETE', `${BUCKET}/lock`)
        const tries = await Promise.all(
          [1, 2, 3, 4, 5].map((n) => put('lock', `holder ${n}`, { 'if-none-match': '*' })),
        )
        expect((await Promise.all(tries.map(outcome))).sort()).toEqual([
          [200, ''],
          ...Array(4).fill([412, 'PreconditionFailed']),
        ])
        await call('DELETE', `${BUCKET}/lock`)
        expect((await put('lock', 'next', { 'if-none-match': '*' })).status).toBe(200)
      })

      it('are replaced with If-Match by who has read them', async () => {
        const tag = (await put('guarded', 'one')).headers.get('etag') ?? ''
        expect(await outcome(await put('guarded', 'two', { 'if-match': '"0"' }))).toEqual([412, 'PreconditionFailed'])
        expect((await put('guarded', 'two', { 'if-match': tag })).status).toBe(200)
        expect(await (await get('guarded')).text()).toBe('two')
        expect(await outcome(await put('not-there', 'x', { 'if-match': tag }))).toEqual([404, 'NoSuchKey'])
      })

      it('are refused when they are not what was signed or announced', async () => {
        const hash = createHash('sha256').update('signed').digest('hex')
        const headers = { 'x-amz-content-sha256': hash }
        const signed = await clientOf().sign(`${url}/${BUCKET}/other`, { method: 'PUT', body: 'signed', headers })
        const changed = await fetch(signed.url, { method: 'PUT', body: 'foiled', headers: signed.headers })
        expect(await outcome(changed)).toEqual([400, 'XAmzContentSHA256Mismatch'])
        const md5 = { 'content-md5': createHash('md5').update('another').digest('base64') }
        expect(await outcome(await put('other', 'text', md5))).toEqual([400, 'BadDigest'])
        const sha256 = { 'x-amz-checksum-sha256': createHash('sha256').update('another').digest('base64') }
        expect(await outcome(await put('other', 'text', sha256))).toEqual([
          400,
          expect.stringMatching(/BadDigest|XAmzContentChecksumMismatch/),
        ])
        expect((await get('other')).status).toBe(404)
      })

      it('outlive the server', async () => {
        await put('durable', 'still here', { 'x-amz-meta-type': 'drift' })
        url = await store.restart()
        const read = await get('durable')
        expect([await read.text(), read.headers.get('x-amz-meta-type')]).toEqual(['still here', 'drift'])
      })
    })

    describe('keys', () => {
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
        const url = await presign(path, 60)
        expect(await (await fetch(url)).text()).toBe(key)
        const listed = await (
          await call('GET', `${BUCKET}?list-type=2&prefix=${encodeAll(key)}&encoding-type=url`)
        ).text()
        expect(decodeURIComponent((/<Key>(.*?)<\/Key>/.exec(listed)?.[1] ?? '').replaceAll('+', ' '))).toBe(key)
        expect((await call('DELETE', `${BUCKET}/${path}`)).status).toBe(204)
        expect((await get(path)).status).toBe(404)
      })

      it('may have 1024 bytes', async () => {
        const segments = Array(8).fill('k'.repeat(127)).join('/')
        expect((await put(segments, 'x')).status).toBe(200)
        expect(await outcome(await put(`${segments}/${'z'.repeat(10)}`, 'x'))).toEqual([400, 'KeyTooLongError'])
      })
    })

    describe('lists', () => {
      const keysOf = (xml: string) => [...xml.matchAll(/<Key>(.*?)<\/Key>/g)].map((match) => match[1])
      const prefixesOf = (xml: string) =>
        [...xml.matchAll(/<CommonPrefixes><Prefix>(.*?)<\/Prefix>/g)].map((match) => match[1])
      const list = async (query: string) => (await call('GET', `lists?${query}`)).text()
      beforeAll(async () => {
        await call('PUT', 'lists')
        for (const key of ['b/2', 'a', 'b/1', 'c/x/y', 'd&<>', 'Z'])
          await call('PUT', `lists/${key.split('/').map(encodeAll).join('/')}`, { body: key })
      })

      it('are in the order of bytes, by prefix and delimiter', async () => {
        expect(keysOf(await list('list-type=2'))).toEqual(['Z', 'a', 'b/1', 'b/2', 'c/x/y', 'd&amp;&lt;&gt;'])
        expect(keysOf(await list('list-type=2&prefix=b%2F'))).toEqual(['b/1', 'b/2'])
        const top = await list('list-type=2&delimiter=%2F')
        expect([keysOf(top), prefixesOf(top)]).toEqual([
          ['Z', 'a', 'd&amp;&lt;&gt;'],
          ['b/', 'c/'],
        ])
        expect(keysOf(await list('list-type=2&start-after=b%2F1'))).toEqual(['b/2', 'c/x/y', 'd&amp;&lt;&gt;'])
        expect(keysOf(await list('marker=b%2F1'))).toEqual(['b/2', 'c/x/y', 'd&amp;&lt;&gt;'])
        expect(await list('list-type=2&prefix=nothing')).toContain('<KeyCount>0</KeyCount>')
        expect(keysOf(await list('list-type=2&max-keys=0'))).toEqual([])
      })

      it('come in pages', async () => {
        const collected: unknown[] = []
        for (let token: string | undefined = ''; token !== undefined; ) {
          const xml = await list(`list-type=2&max-keys=2${token ? `&continuation-token=${encodeAll(token)}` : ''}`)
          collected.push(keysOf(xml).length)
          token = /<NextContinuationToken>(.*?)</.exec(xml)?.[1]
        }
        // Where the last page is full, MinIO tells of a further one, which is empty then.
        expect(collected.filter((size) => size !== 0)).toEqual([2, 2, 2])
      })

      it.each(['max-keys=-1', 'max-keys=x'])('refuse %s', async (query) => {
        expect(await outcome(await call('GET', `lists?list-type=2&${query}`))).toEqual([400, 'InvalidArgument'])
      })

      it('of keys are removed together', async () => {
        await put('m/1', 'x')
        await put('m/2', 'x')
        const body = '<Delete><Object><Key>m/1</Key></Object><Object><Key>m/3</Key></Object></Delete>'
        const md5 = { 'content-md5': createHash('md5').update(body).digest('base64') }
        const text = await (await call('POST', `${BUCKET}?delete=`, { body, headers: md5 })).text()
        expect(keysOf(text)).toEqual(['m/1', 'm/3'])
        expect([(await get('m/1')).status, (await get('m/2')).status]).toEqual([404, 200])
        expect(await outcome(await call('POST', `${BUCKET}?delete=`, { body: 'x', headers: {} }))).toEqual([
          400,
          expect.stringMatching(/MalformedXML|MissingContentMD5/),
        ])
      })
    })

    describe('multipart uploads', () => {
      const at = (key: string, query: string) => `${BUCKET}/${key}?${query}`
      const begin = async (key: string, headers: Record<string, string> = {}) => {
        const text = await (await call('POST', at(key, 'uploads='), { headers })).text()
        return /<UploadId>(.*?)</.exec(text)?.[1] ?? ''
      }
      const part = async (key: string, id: string, number: number, body: BodyInit) =>
        (await call('PUT', at(key, `partNumber=${number}&uploadId=${id}`), { body })).headers.get('etag') ?? ''
      const complete = (key: string, id: string, tags: [number, string][], headers: Record<string, string> = {}) => {
        const parts = tags.map(([number, tag]) => `<Part><PartNumber>${number}</PartNumber><ETag>${tag}</ETag></Part>`)
        const body = `<CompleteMultipartUpload>${parts.join('')}</CompleteMultipartUpload>`
        return call('POST', at(key, `uploadId=${id}`), { body, headers })
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
        expect(Object.fromEntries(read.headers)).toMatchObject({
          'content-type': 'text/plain',
          'x-amz-meta-type': 'plan',
        })
        expect((await read.text()).length).toBe(PART_BYTES + 7)
        expect(await (await get('parts', { range: 'bytes=-3' })).text()).toBe('end')
        expect(await outcome(await complete('parts', id, tags))).toEqual([404, 'NoSuchUpload'])
      })

      it('are refused with parts that are small, missing or in no order', async () => {
        const id = await begin('faulty')
        const [one, two] = [await part('faulty', id, 1, 'small'), await part('faulty', id, 2, 'small too')]
        const refused = async (tags: [number, string][]) => outcome(await complete('faulty', id, tags))
        expect(
          await refused([
            [1, one],
            [2, two],
          ]),
        ).toEqual([400, 'EntityTooSmall'])
        expect(
          await refused([
            [2, two],
            [1, one],
          ]),
        ).toEqual([400, 'InvalidPartOrder'])
        expect(
          await refused([
            [1, one],
            [3, two],
          ]),
        ).toEqual([400, 'InvalidPart'])
        expect(await refused([[1, two]])).toEqual([400, 'InvalidPart'])
        expect(await refused([])).toEqual([400, expect.stringMatching(/MalformedXML|InvalidRequest/)])
        expect((await call('DELETE', at('faulty', `uploadId=${id}`))).status).toBe(204)
        expect(await outcome(await complete('faulty', id, [[1, one]]))).toEqual([404, 'NoSuchUpload'])
      })

      it('are completed once with If-None-Match', async () => {
        await put('taken', 'x')
        const id = await begin('taken')
        const tag = await part('taken', id, 1, 'y')
        const refused = await complete('taken', id, [[1, tag]], { 'if-none-match': '*' })
        expect(await outcome(refused)).toEqual([412, 'PreconditionFailed'])
        expect(await (await get('taken')).text()).toBe('x')
      })
    })

    describe('signatures', () => {
      it.each([
        ['another secret', { secretAccessKey: 'wrong-secret-key' }, 'SignatureDoesNotMatch'],
        ['an unknown key', { accessKeyId: 'somebody-else' }, 'InvalidAccessKeyId'],
      ])('with %s are refused', async (_, change, code) => {
        await put('signed', 'x')
        const keys = { accessKeyId: store.access_key, secretAccessKey: store.secret_key, ...change }
        expect(await outcome(await clientOf(keys).fetch(`${url}/${BUCKET}/signed`))).toEqual([403, code])
        expect(await outcome(await fetch(await presign('signed', 60, new Date(), keys)))).toEqual([403, code])
      })

      it('are needed', async () => {
        expect(await outcome(await fetch(`${url}/${BUCKET}/signed`))).toEqual([403, 'AccessDenied'])
        expect(await outcome(await fetch(`${url}/${BUCKET}/no-such-key`))).toEqual([403, 'AccessDenied'])
      })

      it('hold for one request', async () => {
        const signed = await clientOf().sign(`${url}/${BUCKET}/signed`)
        const moved = await fetch(`${url}/${BUCKET}/ten`, { headers: signed.headers })
        expect(await outcome(moved)).toEqual([403, 'SignatureDoesNotMatch'])
      })

      it('of a clock that is far off are refused', async () => {
        const datetime = new Date(Date.now() - 16 * 60_000).toISOString().replaceAll(/[:-]|\.\d{3}/g, '')
        const late = await clientOf().fetch(`${url}/${BUCKET}/signed`, { aws: { datetime } })
        expect(await outcome(late)).toEqual([403, 'RequestTimeTooSkewed'])
      })

      it('of another region are told so', async () => {
        const elsewhere = await clientOf(undefined, 'eu-central-1').fetch(`${url}/${BUCKET}/signed`)
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
    })

    describe('web pages', () => {
      const ask = async (origin: string, method: string, headers?: string) => {
        const asked = { origin, 'access-control-request-method': method }
        const more = headers === undefined ? asked : { ...asked, 'access-control-request-headers': headers }
        return fetch(await presign('page', 60), { method: 'OPTIONS', headers: more })
      }
      beforeAll(() => put('page', 'x', { 'content-type': 'text/plain', 'x-amz-meta-type': 'plan' }))

      it('of the named origin may read, with ranges and metadata', async () => {
        const preflight = await ask(store.origin, 'GET', 'range')
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
    })

    describe('temporary keys', () => {
      const STATE = `arn:aws:s3:::${BUCKET}/p1/state`
      const POLICY = {
        Version: '2012-10-17',
        Statement: [
          { Effect: 'Allow', Action: ['s3:GetObject', 's3:PutObject', 's3:AbortMultipartUpload'], Resource: [STATE] },
          {
            Effect: 'Allow',
            Action: ['s3:GetObject', 's3:PutObject', 's3:DeleteObject'],
            Resource: [`${STATE}.tflock`],
          },
          {
            Effect: 'Allow',
            Action: ['s3:ListBucket'],
            Resource: [`arn:aws:s3:::${BUCKET}`],
            Condition: { StringLike: { 's3:prefix': ['p1/*'] } },
          },
        ],
      }
      const assume = async (fields: Record<string, string>, keys?: Keys) => {
        const all = { Action: 'AssumeRole', Version: '2011-06-15', RoleSessionName: 'test', DurationSeconds: '900' }
        const answer = await clientOf(keys).fetch(`${url}/`, {
          method: 'POST',
          body: new URLSearchParams({ ...all, ...fields }).toString(),
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
      beforeAll(async () => {
        for (const project of ['p1', 'p2', 'p10']) await put(`${project}/state`, project)
      })

      it('reach what their policy names, and nothing else', async () => {
        const client = await limited()
        const status = async (method: string, path: string, body?: string) =>
          (await client.fetch(`${url}/${path}`, { method, ...(body === undefined ? {} : { body }) })).status
        expect(await status('GET', `${BUCKET}/p1/state`)).toBe(200)
        expect(await status('PUT', `${BUCKET}/p1/state`, 'p1')).toBe(200)
        expect(await status('PUT', `${BUCKET}/p1/state.tflock`, 'x')).toBe(200)
        expect(await status('DELETE', `${BUCKET}/p1/state.tflock`)).toBe(204)
        expect(await status('GET', `${BUCKET}?list-type=2&prefix=p1%2F`)).toBe(200)
        const refused: [string, string][] = [
          ['GET', `${BUCKET}/p2/state`],
          ['HEAD', `${BUCKET}/p2/state`],
          ['GET', `${BUCKET}/p10/state`],
          ['PUT', `${BUCKET}/p2/state`],
          ['DELETE', `${BUCKET}/p2/state`],
          ['DELETE', `${BUCKET}/p1/state`],
          ['PUT', `${BUCKET}/p1/other`],
          ['GET', `${BUCKET}?list-type=2`],
          ['GET', `${BUCKET}?list-type=2&prefix=p`],
          ['GET', `${BUCKET}?list-type=2&prefix=p2%2F`],
          ['DELETE', BUCKET],
          ['PUT', 'another-bucket'],
          ['GET', 'lists/a'],
        ]
        for (const [method, path] of refused)
          expect([method, path, await status(method, path)]).toEqual([method, path, 403])
      })

      it('learn that an object is missing where they may list it', async () => {
        const client = await limited()
        expect(await outcome(await client.fetch(`${url}/${BUCKET}/p1/state.tflock`))).toEqual([404, 'NoSuchKey'])
      })

      it('sign addresses that hold', async () => {
        const { keys } = await assume({ Policy: JSON.stringify(POLICY) })
        expect(await (await fetch(await presign('p1/state', 60, new Date(), keys))).text()).toBe('p1')
        expect((await fetch(await presign('p2/state', 60, new Date(), keys))).status).toBe(403)
      })

      it('are refused when something of them is changed', async () => {
        const [first, second] = [await assume({}), await assume({})]
        const answer = async (keys: Keys) => (await clientOf(keys).fetch(`${url}/${BUCKET}/p1/state`)).status
        const { accessKeyId, secretAccessKey, sessionToken } = first.keys
        expect(await answer(first.keys)).toBe(200)
        expect(await answer({ accessKeyId, secretAccessKey })).toBe(403)
        expect([400, 403]).toContain(await answer({ ...first.keys, sessionToken: second.keys.sessionToken }))
        expect([400, 403]).toContain(await answer({ ...first.keys, sessionToken: `${sessionToken}x` }))
        expect(await answer({ ...first.keys, secretAccessKey: second.keys.secretAccessKey })).toBe(403)
      })

      it('make no further ones, and outlive the server', async () => {
        const { keys, expires } = await assume({ Policy: JSON.stringify(POLICY) })
        expect(Date.parse(expires) - Date.now()).toBeLessThanOrEqual(901_000)
        expect((await assume({}, keys)).status).toBe(403)
        url = await store.restart()
        expect((await clientOf(keys).fetch(`${url}/${BUCKET}/p1/state`)).status).toBe(200)
        expect((await clientOf(keys).fetch(`${url}/${BUCKET}/p2/state`)).status).toBe(403)
      })

      it.each([
        ['for too short a time', { DurationSeconds: '899' }],
        ['with a policy that is no JSON', { Policy: '{' }],
        ['with another action', { Action: 'GetSessionToken' }],
      ])('are not made %s', async (_, fields) => {
        expect((await assume(fields)).status).toBe(400)
      })
    })
  })
}

const isExposed = (exposed: string[], name: string): boolean =>
  exposed.some((one) => one === name || one === '*' || (one.endsWith('*') && name.startsWith(one.slice(0, -1))))

const encodeAll = (text: string): string =>
  encodeURIComponent(text).replaceAll(/[!'()*]/g, (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`)
