import { describe, expect, it } from 'vitest'
import { BUCKET, outcome, PART_BYTES, type StoreClient } from './client.ts'

export function describeMultipart(store: StoreClient): void {
  const { call, get, put } = store
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
}
