import { HttpResponse } from 'msw'
import { describe, expect, it } from 'vitest'
import { staticCredentials } from '../../../src/aws/credentials.ts'
import { silentLogger } from '../../../src/base/log.ts'
import { createObjectStore } from '../../../src/data/storage/create.ts'
import { createS3Signer } from '../../../src/data/storage/s3.ts'
import { interceptRequests, recordRequests } from '../../helpers/intercept.ts'
import { storageConfig } from './config.ts'

const outside = interceptRequests()

const storeOf = (overrides: Parameters<typeof storageConfig>[0] = {}, more = {}) =>
  createObjectStore(storageConfig({ provider: 'S3', region: 'eu-west-1', ...overrides }), {
    fetch: (...args) => fetch(...args),
    log: silentLogger,
    backoffMs: 1,
    ...more,
  })

const BUCKET = 'https://platform-artifacts.s3.eu-west-1.amazonaws.com'

describe('signatures', () => {
  // The worked examples of AWS's documentation of Signature Version 4.
  const keys = { access_key: 'AKIAIOSFODNN7EXAMPLE', secret_key: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY' }
  const example = createS3Signer({
    credentials: staticCredentials(keys),
    region: 'us-east-1',
    now: () => new Date('2013-05-24T00:00:00Z'),
  })

  it('of URLs are those of the documentation', async () => {
    const url = new URL(await example.presign('https://examplebucket.s3.amazonaws.com/test.txt', 86_400))
    expect(Object.fromEntries(url.searchParams)).toEqual({
      'X-Amz-Algorithm': 'AWS4-HMAC-SHA256',
      'X-Amz-Credential': 'AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request',
      'X-Amz-Date': '20130524T000000Z',
      'X-Amz-Expires': '86400',
      'X-Amz-SignedHeaders': 'host',
      'X-Amz-Signature': 'aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404',
    })
  })

  it('of requests are those of the documentation', async () => {
    const request = { method: 'GET', url: 'https://examplebucket.s3.amazonaws.com/?lifecycle=', headers: {} } as const
    const headers = await example.headers(request, keys)
    expect(headers.authorization).toBe(
      'AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request, ' +
        'SignedHeaders=host;x-amz-content-sha256;x-amz-date, ' +
        'Signature=fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543',
    )
  })
})

describe('the S3 service', () => {
  it('is called at the regional endpoint of the bucket, whatever the URLs say', async () => {
    const seen = recordRequests(outside, BUCKET, () => new HttpResponse(null, { status: 200 }))
    const elsewhere = ['http://object-storage:9000', 'http://files.example'].map((host) =>
      recordRequests(outside, host, () => HttpResponse.error()),
    )
    const store = storeOf({ endpoint_url: 'http://object-storage:9000', public_endpoint_url: 'http://files.example' })
    expect(new URL(await store.presign('k')).origin).toBe(BUCKET)
    expect(elsewhere).toEqual([[], []])
    await store.put('a/b.txt', 'x', { content_type: 'text/plain', metadata: { type: 'drift' } })
    expect(seen.map((request) => request.line)).toEqual(['PUT /a/b.txt'])
    expect(seen[0]?.headers.get('x-amz-meta-type')).toBe('drift')
    expect(seen[0]?.headers.get('content-type')).toBe('text/plain')
    expect(seen[0]?.headers.get('authorization')).toMatch(
      /Credential=access-key\/\d{8}\/eu-west-1\/s3\/.*SignedHeaders=host;.*x-amz-meta-type/,
    )
  })

  it.each([
    ['eu-west-1', 'plain-bucket', 'https://plain-bucket.s3.eu-west-1.amazonaws.com/k'],
    ['us-east-1', 'plain-bucket', 'https://plain-bucket.s3.us-east-1.amazonaws.com/k'],
    ['cn-north-1', 'plain-bucket', 'https://plain-bucket.s3.cn-north-1.amazonaws.com.cn/k'],
    ['us-gov-west-1', 'plain-bucket', 'https://plain-bucket.s3.us-gov-west-1.amazonaws.com/k'],
    ['eusc-de-east-1', 'plain-bucket', 'https://plain-bucket.s3.eusc-de-east-1.amazonaws.eu/k'],
    ['eu-west-1', 'with.dots', 'https://s3.eu-west-1.amazonaws.com/with.dots/k'],
  ])('in %s with bucket %s presigns for the regional host', async (region, bucket, expected) => {
    const url = new URL(await storeOf({ region, bucket }).presign('k'))
    expect(`${url.origin}${url.pathname}`).toBe(expected)
    expect(url.searchParams.get('X-Amz-Credential')).toMatch(
      new RegExp(`^access-key/\\d{8}/${region}/s3/aws4_request$`),
    )
  })

  it.each([
    ['eu-west-1', expect.stringContaining('<LocationConstraint>eu-west-1</LocationConstraint>')],
    ['us-east-1', ''],
  ])('in %s creates buckets with the right location', async (region, body) => {
    const seen = recordRequests(
      outside,
      `https://platform-artifacts.s3.${region}.amazonaws.com`,
      (request) => new HttpResponse(null, { status: request.method === 'HEAD' ? 404 : 200 }),
    )
    await storeOf({ region, engine_state_bucket: '' }).ensureBuckets()
    expect(seen.map((request) => [request.line, request.body])).toEqual([
      ['HEAD /', ''],
      ['PUT /', body],
    ])
  })

  it('says why a bucket is refused, also where the store names its region in every answer', async () => {
    const seen = recordRequests(outside, BUCKET, ({ method }) => {
      const body = method === 'HEAD' ? null : '<Error><Code>InvalidAccessKeyId</Code></Error>'
      return new HttpResponse(body, { status: 403, headers: { 'x-amz-bucket-region': 'eu-west-1' } })
    })
    await expect(storeOf().ensureBuckets()).rejects.toThrow(
      'The object store refuses access to bucket platform-artifacts (403 InvalidAccessKeyId).',
    )
    expect(seen.map(({ line }) => line)).toEqual(['HEAD /', 'GET /?location='])
  })

  it('says where a bucket of another region is', async () => {
    const moved = { status: 301, headers: { 'x-amz-bucket-region': 'eu-north-1' } }
    recordRequests(outside, BUCKET, () => new HttpResponse(null, moved))
    await expect(storeOf().ensureBuckets()).rejects.toThrow(
      'The object store refuses access to bucket platform-artifacts (301; it is in region eu-north-1).',
    )
  })
})
