import { createHash } from 'node:crypto'
import { beforeAll, describe, expect, it } from 'vitest'
import { BUCKET, encodeAll, outcome, type StoreClient } from './client.ts'

export function describeLists(store: StoreClient): void {
  const { call, get, put } = store
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
      // If the last page is full, MinIO announces a further one, which is empty.
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
}
