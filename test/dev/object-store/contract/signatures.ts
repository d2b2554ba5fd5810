import { describe, expect, it } from 'vitest'
import { BUCKET, outcome, type StoreClient } from './client.ts'

export function describeSignatures(store: StoreClient): void {
  const { clientOf, presign, put } = store
  describe('signatures', () => {
    it.each([
      ['another secret', { secretAccessKey: 'wrong-secret-key' }, 'SignatureDoesNotMatch'],
      ['an unknown key', { accessKeyId: 'somebody-else' }, 'InvalidAccessKeyId'],
    ])('with %s are refused', async (_, change, code) => {
      await put('signed', 'x')
      const keys = { accessKeyId: store.access_key, secretAccessKey: store.secret_key, ...change }
      expect(await outcome(await clientOf(keys).fetch(`${store.url}/${BUCKET}/signed`))).toEqual([403, code])
      expect(await outcome(await fetch(await presign('signed', 60, new Date(), keys)))).toEqual([403, code])
    })

    it('are needed', async () => {
      expect(await outcome(await fetch(`${store.url}/${BUCKET}/signed`))).toEqual([403, 'AccessDenied'])
      expect(await outcome(await fetch(`${store.url}/${BUCKET}/no-such-key`))).toEqual([403, 'AccessDenied'])
    })

    it('hold for one request', async () => {
      const signed = await clientOf().sign(`${store.url}/${BUCKET}/signed`)
      const moved = await fetch(`${store.url}/${BUCKET}/ten`, { headers: signed.headers })
      expect(await outcome(moved)).toEqual([403, 'SignatureDoesNotMatch'])
    })

    it('of a clock that is far off are refused', async () => {
      const datetime = new Date(Date.now() - 16 * 60_000).toISOString().replaceAll(/[:-]|\.\d{3}/g, '')
      const late = await clientOf().fetch(`${store.url}/${BUCKET}/signed`, { aws: { datetime } })
      expect(await outcome(late)).toEqual([403, 'RequestTimeTooSkewed'])
    })

    it('of another region are told so', async () => {
      const elsewhere = await clientOf(undefined, 'eu-central-1').fetch(`${store.url}/${BUCKET}/signed`)
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
}
