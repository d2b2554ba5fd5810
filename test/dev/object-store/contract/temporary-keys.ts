import { beforeAll, describe, expect, it } from 'vitest'
import { BUCKET, type Keys, outcome, type StoreClient } from './client.ts'

export function describeTemporaryKeys(store: StoreClient): void {
  const { clientOf, presign, put } = store
  describe('temporary keys', () => {
    const STATE = `arn:aws:s3:::${BUCKET}/p1/state`
    const POLICY = {
      Version: '2012-10-17',
      Statement: [
        { Effect: 'Allow', Action: ['s3:GetObject', 's3:PutObject', 's3:AbortMultipartUpload'], Resource: [STATE] },
        {
          Effect: 'Allow',
          Action: ['s3:GetObject', 's3:PutObject', 's3:DeleteObject'],
          Resource: [`${STATE}.tflock`],
        },
        {
          Effect: 'Allow',
          Action: ['s3:ListBucket'],
          Resource: [`arn:aws:s3:::${BUCKET}`],
          Condition: { StringLike: { 's3:prefix': ['p1/*'] } },
        },
      ],
    }
    const assume = async (fields: Record<string, string>, keys?: Keys) => {
      const all = { Action: 'AssumeRole', Version: '2011-06-15', RoleSessionName: 'test', DurationSeconds: '900' }
      const answer = await clientOf(keys).fetch(`${store.url}/`, {
        method: 'POST',
        body: new URLSearchParams({ ...all, ...fields }).toString(),
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        aws: { service: 'sts' },
      })
      const text = await answer.text()
      const value = (name: string) => new RegExp(`<${name}>([^<]*)</${name}>`).exec(text)?.[1] ?? ''
      return {
        status: answer.status,
        code: value('Code'),
        expires: value('Expiration'),
        keys: {
          accessKeyId: value('AccessKeyId'),
          secretAccessKey: value('SecretAccessKey'),
          sessionToken: value('SessionToken'),
        },
      }
    }
    const limited = async () => clientOf((await assume({ Policy: JSON.stringify(POLICY) })).keys)
    beforeAll(async () => {
      for (const project of ['p1', 'p2', 'p10']) await put(`${project}/state`, project)
    })

    it('reach what their policy names, and nothing else', async () => {
      const client = await limited()
      const status = async (method: string, path: string, body?: string) =>
        (await client.fetch(`${store.url}/${path}`, { method, ...(body === undefined ? {} : { body }) })).status
      expect(await status('GET', `${BUCKET}/p1/state`)).toBe(200)
      expect(await status('PUT', `${BUCKET}/p1/state`, 'p1')).toBe(200)
      expect(await status('PUT', `${BUCKET}/p1/state.tflock`, 'x')).toBe(200)
      expect(await status('DELETE', `${BUCKET}/p1/state.tflock`)).toBe(204)
      expect(await status('GET', `${BUCKET}?list-type=2&prefix=p1%2F`)).toBe(200)
      const refused: [string, string][] = [
        ['GET', `${BUCKET}/p2/state`],
        ['HEAD', `${BUCKET}/p2/state`],
        ['GET', `${BUCKET}/p10/state`],
        ['PUT', `${BUCKET}/p2/state`],
        ['DELETE', `${BUCKET}/p2/state`],
        ['DELETE', `${BUCKET}/p1/state`],
        ['PUT', `${BUCKET}/p1/other`],
        ['GET', `${BUCKET}?list-type=2`],
        ['GET', `${BUCKET}?list-type=2&prefix=p`],
        ['GET', `${BUCKET}?list-type=2&prefix=p2%2F`],
        ['DELETE', BUCKET],
        ['PUT', 'another-bucket'],
        ['GET', 'lists/a'],
      ]
      for (const [method, path] of refused)
        expect([method, path, await status(method, path)]).toEqual([method, path, 403])
    })

    it('learn that an object is missing where they may list it', async () => {
      const client = await limited()
      expect(await outcome(await client.fetch(`${store.url}/${BUCKET}/p1/state.tflock`))).toEqual([404, 'NoSuchKey'])
    })

    it('sign addresses that hold', async () => {
      const { keys } = await assume({ Policy: JSON.stringify(POLICY) })
      expect(await (await fetch(await presign('p1/state', 60, new Date(), keys))).text()).toBe('p1')
      expect((await fetch(await presign('p2/state', 60, new Date(), keys))).status).toBe(403)
    })

    it('are refused when something of them is changed', async () => {
      const [first, second] = [await assume({}), await assume({})]
      const answer = async (keys: Keys) => (await clientOf(keys).fetch(`${store.url}/${BUCKET}/p1/state`)).status
      const { accessKeyId, secretAccessKey, sessionToken } = first.keys
      expect(await answer(first.keys)).toBe(200)
      expect(await answer({ accessKeyId, secretAccessKey })).toBe(403)
      expect([400, 403]).toContain(await answer({ ...first.keys, sessionToken: second.keys.sessionToken }))
      expect([400, 403]).toContain(await answer({ ...first.keys, sessionToken: `${sessionToken}x` }))
      expect(await answer({ ...first.keys, secretAccessKey: second.keys.secretAccessKey })).toBe(403)
    })

    it('make no further ones, and outlive the server', async () => {
      const { keys, expires } = await assume({ Policy: JSON.stringify(POLICY) })
      expect(Date.parse(expires) - Date.now()).toBeLessThanOrEqual(901_000)
      expect((await assume({}, keys)).status).toBe(403)
      await store.restart()
      expect((await clientOf(keys).fetch(`${store.url}/${BUCKET}/p1/state`)).status).toBe(200)
      expect((await clientOf(keys).fetch(`${store.url}/${BUCKET}/p2/state`)).status).toBe(403)
    })

    it.each([
      ['for too short a time', { DurationSeconds: '899' }],
      ['with a policy that is no JSON', { Policy: '{' }],
      ['with another action', { Action: 'GetSessionToken' }],
    ])('are not made %s', async (_, fields) => {
      expect((await assume(fields)).status).toBe(400)
    })
  })
}
