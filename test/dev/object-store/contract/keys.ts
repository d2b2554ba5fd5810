import { describe, expect, it } from 'vitest'
import { BUCKET, encodeAll, outcome, type StoreClient } from './client.ts'

export function describeKeys(store: StoreClient): void {
  const { call, get, presign, put } = store
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
}
