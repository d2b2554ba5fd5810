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

/** Features beyond those of the contract (`contract/`), which MinIO has to pass too. */

const keys = { access_key: 'testkey', secret_key: 'testsecret' }
const client = () =>
  new AwsClient({
    accessKeyId: keys.access_key,
    secretAccessKey: keys.secret_key,
    service: 's3',
    region: 'us-east-1',
    retries: 0,
  })

let folder: string
let store: Running
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'object-store-test-'))
  store = await startObjectStore({ ...keys, data_dir: folder })
  expect((await client().fetch(`${store.url}/box`, { method: 'PUT' })).status).toBe(200)
})
afterAll(async () => {
  await store.close()
  await rm(folder, { recursive: true, force: true })
})

const put = (key: string, body: string) => client().fetch(`${store.url}/box/${key}`, { method: 'PUT', body })
const get = (key: string) => client().fetch(`${store.url}/box/${key}`)

test('only who has read a lock object removes it', async () => {
  await put('lock', 'holder')
  const remove = async (tag: string) =>
    (await client().fetch(`${store.url}/box/lock`, { method: 'DELETE', headers: { 'if-match': tag } })).status
  expect(await remove('"0"')).toBe(412)
  expect(await remove((await get('lock')).headers.get('etag') ?? '')).toBe(204)
})

test('a header of S3 that is not signed is refused', async () => {
  const headers = new Headers((await client().sign(`${store.url}/box/keep`)).headers)
  headers.set('x-amz-meta-added', '1')
  const response = await fetch(`${store.url}/box/keep`, { headers })
  expect([response.status, await response.text()]).toEqual([403, expect.stringContaining('AccessDenied')])
})

test('writing leaves no temporary files', async () => {
  await Promise.all(['a', 'b', 'c'].map((text) => put('same', text)))
  expect((await readdir(folder, { recursive: true })).filter((name) => name.endsWith('.tmp'))).toEqual([])
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

test('without a list of origins every page may read, and no page may write', async () => {
  await put('cors', 'x')
  const headers = { origin: 'http://localhost:5173' }
  const read = await fetch(`${store.url}/box/cors`, { headers })
  expect(read.headers.get('access-control-allow-origin')).toBe('*')
  const preflight = { ...headers, 'access-control-request-method': 'PUT' }
  expect((await fetch(`${store.url}/box/cors`, { method: 'OPTIONS', headers: preflight })).status).toBe(403)
})
