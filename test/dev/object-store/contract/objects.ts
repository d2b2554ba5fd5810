import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { BUCKET, outcome, type StoreClient } from './client.ts'

export function describeObjects(store: StoreClient): void {
  const { call, clientOf, get, put } = store
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
      const tries = await Promise.all([1, 2, 3, 4, 5].map((n) => put('lock', `holder ${n}`, { 'if-none-match': '*' })))
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
      const signed = await clientOf().sign(`${store.url}/${BUCKET}/other`, { method: 'PUT', body: 'signed', headers })
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
      await store.restart()
      const read = await get('durable')
      expect([await read.text(), read.headers.get('x-amz-meta-type')]).toEqual(['still here', 'drift'])
    })
  })
}
