import { readdir } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest'
import { startObjectStore } from '../../../dev/object-store.ts'
import type { Running } from '../../../dev/server.ts'
import { temporaryFolder } from '../../helpers/folder.ts'
import { assumeRole, clientOf, type Keys, outcome, timestamp } from './contract/client.ts'
import { describeStore } from './contract/store.ts'

const KEYS = { access_key: 'access-key', secret_key: 'secret-key-of-the-store', region: 'us-east-1' }
const ORIGIN = 'http://localhost:5173'

const contractFolder = temporaryFolder()
describeStore('the store of the development stack', async () => {
  const open = (port?: number) => startObjectStore({ ...KEYS, port, data_dir: contractFolder, cors_origins: [ORIGIN] })
  let running = await open()
  return {
    ...KEYS,
    url: running.url,
    origin: ORIGIN,
    restart: async () => {
      await running.close()
      running = await open(running.port)
      return running.url
    },
    close: () => running.close(),
  }
})

/** Features beyond those of the contract, which MinIO has to pass too. */
const OWNER: Keys = { accessKeyId: KEYS.access_key, secretAccessKey: KEYS.secret_key }
const folder = temporaryFolder()
let store: Running
let aheadMs = 0
beforeAll(async () => {
  store = await startObjectStore({ ...KEYS, data_dir: folder, now: () => new Date(Date.now() + aheadMs) })
  expect((await clientOf(OWNER).fetch(`${store.url}/box`, { method: 'PUT' })).status).toBe(200)
})
afterAll(() => store.close())

const put = (key: string, body: string) => clientOf(OWNER).fetch(`${store.url}/box/${key}`, { method: 'PUT', body })

test('a header of S3 that is not signed is refused', async () => {
  const headers = new Headers((await clientOf(OWNER).sign(`${store.url}/box/keep`)).headers)
  headers.set('x-amz-meta-added', '1')
  expect(await outcome(await fetch(`${store.url}/box/keep`, { headers }))).toEqual([403, 'AccessDenied'])
})

test('writing leaves no temporary files', async () => {
  await Promise.all(['a', 'b', 'c'].map((text) => put('same', text)))
  expect((await readdir(folder, { recursive: true })).filter((name) => name.endsWith('.tmp'))).toEqual([])
})

test.each([
  ['GET', 'box?acl=', 501, 'NotImplemented'],
  ['PUT', 'box?cors=', 405, 'MethodNotAllowed'],
  ['DELETE', 'box', 405, 'MethodNotAllowed'],
])('%s %s is refused', async (method, path, status, code) => {
  expect(await outcome(await clientOf(OWNER).fetch(`${store.url}/${path}`, { method }))).toEqual([status, code])
})

test('without a list of origins every page may read, and no page may write', async () => {
  await put('cors', 'x')
  const headers = { origin: ORIGIN }
  const read = await fetch(`${store.url}/box/cors`, { headers })
  expect(read.headers.get('access-control-allow-origin')).toBe('*')
  const preflight = { ...headers, 'access-control-request-method': 'PUT' }
  expect((await fetch(`${store.url}/box/cors`, { method: 'OPTIONS', headers: preflight })).status).toBe(403)
})

describe('temporary keys', () => {
  const assume = (fields: Record<string, string> = {}, keys = OWNER) => assumeRole(store.url, keys, fields)
  const policy = (statement: object, Version = '2012-10-17') => ({
    Policy: JSON.stringify({
      Version,
      Statement: [{ Effect: 'Allow', Action: ['s3:GetObject'], Resource: 'arn:aws:s3:::box/*', ...statement }],
    }),
  })

  it('do not learn that an object is missing where they may not list it', async () => {
    await put('there', 'x')
    const blind = clientOf((await assume(policy({}))).keys)
    expect((await blind.fetch(`${store.url}/box/there`)).status).toBe(200)
    expect((await blind.fetch(`${store.url}/box/missing`, { method: 'HEAD' })).status).toBe(403)
    expect((await blind.fetch(`${store.url}/box`, { method: 'HEAD' })).status).toBe(403)
  })

  it('run out', async () => {
    await put('there', 'x')
    const { keys, expires } = await assume()
    expect(Math.abs(Date.parse(expires) - Date.now() - 900_000)).toBeLessThan(10_000)
    aheadMs = 901_000
    const aws = { datetime: timestamp(new Date(Date.now() + aheadMs)) }
    const late = await clientOf(keys).fetch(`${store.url}/box/there`, { aws })
    aheadMs = 0
    expect(await outcome(late)).toEqual([400, 'ExpiredToken'])
    expect((await clientOf(keys).fetch(`${store.url}/box/there`)).status).toBe(200)
  })

  it('name a token that is not theirs as the reason', async () => {
    const [first, second] = [await assume(), await assume()]
    const answer = async (sessionToken: string) =>
      outcome(await clientOf({ ...first.keys, sessionToken }).fetch(`${store.url}/box/there`))
    expect(await answer(second.keys.sessionToken)).toEqual([400, 'InvalidToken'])
    expect(await answer('nonsense')).toEqual([400, 'InvalidToken'])
  })

  it('are not made for too long a time', async () => {
    expect(await assume({ DurationSeconds: '43201' })).toMatchObject({ status: 400, code: 'ValidationError' })
  })

  it('are not made by somebody with temporary keys', async () => {
    expect(await assume({}, (await assume()).keys)).toMatchObject({ status: 403, code: 'AccessDenied' })
  })

  it.each([
    ['of another version', policy({}, '2008-10-17')],
    ['that is too long', policy({ Resource: 'x'.repeat(2049) })],
    ['with a field that is not known', policy({ NotAction: 's3:GetObject' })],
    ['with another condition', policy({ Condition: { IpAddress: { 'aws:SourceIp': '10.0.0.0/8' } } })],
    ['with a condition on something else', policy({ Condition: { StringLike: { 's3:delimiter': '/' } } })],
    ['with no effect', policy({ Effect: 'Maybe' })],
    ['with an action that is no text', policy({ Action: [1] })],
  ])('are not made with a policy %s', async (_title, fields) => {
    expect(await assume(fields)).toMatchObject({ status: 400, code: 'MalformedPolicyDocument' })
  })
})
