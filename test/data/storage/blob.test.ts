import { createHmac } from 'node:crypto'
import { HttpResponse } from 'msw'
import { describe, expect, it } from 'vitest'
import { silentLogger } from '../../../src/base/log.ts'
import { createObjectStore } from '../../../src/data/storage/create.ts'
import { interceptRequests, recordRequests } from '../../helpers/intercept.ts'
import { refused, storageConfig, TEXT } from './config.ts'

const outside = interceptRequests()

const HOST = 'https://acct.blob.core.windows.net'
const KEY = Buffer.from('a key of the account').toString('base64')
const sign = (text: string) => createHmac('sha256', 'a key of the account').update(text).digest('base64')

const store = createObjectStore(
  storageConfig({
    provider: 'STORAGE_ACCOUNT',
    endpoint_url: HOST,
    public_endpoint_url: 'https://files.example/',
    account_name: 'acct',
    account_key: KEY,
    presign_expiry_seconds: 108_000,
  }),
  {
    fetch: (...args) => fetch(...args),
    log: silentLogger,
    now: () => new Date('2026-01-02T03:04:05.678Z'),
    backoffMs: 1,
  },
)

const record = (reply: (request: Request) => Response) => recordRequests(outside, HOST, reply)
const status = (code: number, error?: string) => () =>
  new HttpResponse(null, { status: code, headers: error ? { 'x-ms-error-code': error } : {} })
const DATE = 'Fri, 02 Jan 2026 03:04:05 GMT'

describe('a storage account', () => {
  it('gets both containers, and finds them the second time', async () => {
    const seen = record(status(201))
    await store.ensureBuckets()
    expect(seen.map((request) => request.line)).toEqual([
      'PUT /platform-artifacts?restype=container',
      'PUT /platform-terraform-state?restype=container',
    ])
    const text =
      `PUT\n\n\n\n\n\n\n\n\n\n\n\nx-ms-date:${DATE}\nx-ms-version:2021-12-02\n/acct/platform-artifacts\n` +
      'restype:container'
    expect(seen[0]?.headers.get('authorization')).toBe(`SharedKey acct:${sign(text)}`)
    record(status(409, 'ContainerAlreadyExists'))
    await store.ensureBuckets()
  })

  it('keeps what is put, with type and metadata, signed with the shared key', async () => {
    const seen = record(status(201))
    expect(await store.put('plans/ä.txt', 'größe', { ...TEXT, metadata: { type: 'plan' } })).toBe(7)
    expect(seen[0]?.line).toBe('PUT /platform-artifacts/plans/%C3%A4.txt')
    expect(seen[0]?.body).toBe('größe')
    expect(store.metadataPrefix).toBe('x-ms-meta-')
    const text = [
      'PUT\n\n\n7\n\ntext/plain\n\n\n\n\n\n',
      'x-ms-blob-type:BlockBlob',
      `x-ms-date:${DATE}`,
      'x-ms-meta-type:plan',
      'x-ms-version:2021-12-02',
      '/acct/platform-artifacts/plans/%C3%A4.txt',
    ].join('\n')
    expect(seen[0]?.headers.get('authorization')).toBe(`SharedKey acct:${sign(text)}`)
  })

  it('reads and deletes; a missing blob is an error for the one and none for the other', async () => {
    record(() => HttpResponse.text('content'))
    expect(new TextDecoder().decode(await store.get('k'))).toBe('content')
    record(status(404, 'BlobNotFound'))
    await expect(store.get('k')).rejects.toMatchObject({ status: 404, message: 'Object not found: k' })
    await store.delete('k')
    record(status(404, 'ContainerNotFound'))
    await expect(store.get('k')).rejects.toMatchObject(refused('read of k', '404 ContainerNotFound'))
  })

  it('lists what is below a prefix', async () => {
    const seen = record(() =>
      HttpResponse.xml(
        '<?xml version="1.0"?><EnumerationResults ContainerName="platform-artifacts"><Prefix>s/1/</Prefix><Blobs>' +
          '<Blob><Name>s/1/a &amp; b.tf</Name><Properties><Etag>0x1</Etag></Properties></Blob>' +
          '<Blob><Name>s/1/c&#228;.txt</Name><Metadata><Name>s</Name></Metadata></Blob></Blobs><NextMarker/>' +
          '</EnumerationResults>',
      ),
    )
    expect(await store.list('s/1/')).toEqual(['s/1/a & b.tf', 's/1/cä.txt'])
    const query = 'restype=container&comp=list&prefix=s%2F1%2F&maxresults=1000'
    expect(seen.map(({ line }) => line)).toEqual([`GET /platform-artifacts?${query}`])
    record(status(403, 'AuthorizationFailure'))
    await expect(store.list('s/1/')).rejects.toMatchObject(refused('list of s/1/', '403 AuthorizationFailure'))
  })

  it('presigns for the public host with read permission and expiry only', async () => {
    const url = new URL(await store.presign('plans/ä b.txt'))
    expect(`${url.origin}${url.pathname}`).toBe('https://files.example/platform-artifacts/plans/%C3%A4%20b.txt')
    const expiry = '2026-01-03T09:04:05Z'
    const text = `r\n\n${expiry}\n/blob/acct/platform-artifacts/plans/ä b.txt\n\n\n\n2021-12-02\nb\n\n\n\n\n\n\n`
    const parameters = { sv: '2021-12-02', sr: 'b', sp: 'r', se: expiry, sig: sign(text) }
    expect(Object.fromEntries(url.searchParams)).toEqual(parameters)
  })

  it.each([
    [403, 'AuthenticationFailed', 500, 'The object store refused the upload of k (403 AuthenticationFailed).'],
    [503, 'ServerBusy', 503, 'The object store cannot be reached.'],
  ])('answers %i %s as %i', async (code, error, expected, message) => {
    record(status(code, error))
    await expect(store.put('k', 'x', TEXT)).rejects.toMatchObject({ status: expected, message })
  })
})
