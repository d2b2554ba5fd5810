import { beforeAll, describe, expect, it } from 'vitest'
import type { StoreClient } from './client.ts'

export function describePages(store: StoreClient): void {
  const { presign, put } = store
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
}

const isExposed = (exposed: string[], name: string): boolean =>
  exposed.some((one) => one === name || one === '*' || (one.endsWith('*') && name.startsWith(one.slice(0, -1))))
