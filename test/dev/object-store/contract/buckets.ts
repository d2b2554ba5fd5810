import { describe, expect, it } from 'vitest'
import { BUCKET, outcome, type StoreClient } from './client.ts'

export function describeBuckets(store: StoreClient): void {
  const { call } = store
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
}
