import { AwsClient } from 'aws4fetch'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { StorageConfig } from '../../../../config/types.ts'
import { cacheCredentials } from '../../../../src/aws/chain.ts'
import { createLogger, silentLogger } from '../../../../src/base/log.ts'
import { createObjectStore, type StorageDeps } from '../../../../src/data/storage/create.ts'
import { storageConfig } from '../../../data/storage/config.ts'
import type { Service } from '../tools/service.ts'
import { at } from './relay.ts'
import { REGION, ROOT, startMinio } from './server.ts'
import { startVersitygw } from './versitygw.ts'

interface Server {
  url: string
  service(): Service
  start(): Promise<void>
  close(): Promise<void>
}
interface Options {
  host?: string
  /** Base domain of buckets in front of the host. */
  domain?: string
  /** Takes one request at a time and turns the others away. */
  narrow?: boolean
}

const servers: [string, (options?: Options) => Promise<Server>][] = [
  [
    'MinIO',
    ({ host, domain, narrow } = {}) =>
      startMinio({
        host,
        env: {
          MINIO_KMS_SECRET_KEY: `platform:${Buffer.alloc(32, 7).toString('base64')}`,
          ...(domain ? { MINIO_DOMAIN: domain } : {}),
          ...(narrow ? { MINIO_API_REQUESTS_MAX: '1', MINIO_API_REQUESTS_DEADLINE: '1ms' } : {}),
        },
      }),
  ],
  [
    'versitygw',
    ({ host, domain, narrow } = {}) =>
      startVersitygw({
        host,
        flags: (port) => [
          ...(domain ? ['--virtual-domain', `${domain}:${port}`] : []),
          ...(narrow ? ['--max-requests', '1'] : []),
        ],
      }),
  ],
]

const TEXT = { content_type: 'text/plain' }
const read = async (bytes: Promise<Uint8Array>) => new TextDecoder().decode(await bytes)

describe.each(servers)('the object store of the platform on %s', (name, start) => {
  let server: Server
  beforeAll(async () => {
    server = await start()
    await storeOf().ensureBuckets()
  })
  afterAll(() => server?.close())

  const storeOf = (changes: Partial<StorageConfig> = {}, deps: Partial<StorageDeps> = {}, url = server.url) =>
    createObjectStore(
      storageConfig({ endpoint_url: url, public_endpoint_url: url, region: REGION, ...ROOT, ...changes }),
      { fetch, log: silentLogger, backoffMs: 20, ...deps },
    )
  const asOwner = () =>
    new AwsClient({ accessKeyId: ROOT.access_key, secretAccessKey: ROOT.secret_key, service: 's3', region: REGION })

  it.each([
    "sessions/1/rounds/2/changes/ab12-Größe (1)+'x'!*.tf",
    'a b/c  d.txt',
    'a+b=c&d?e#f;g:h@i,j$k.txt',
    'größe/日本語/🚀.tf',
    'a%2Fb%20c%41.txt',
  ])('keeps the key %j, with its metadata, also behind a link', async (key) => {
    const store = storeOf()
    await store.put(key, key, { ...TEXT, metadata: { type: 'plan' } })
    expect(await read(store.get(key))).toBe(key)
    const answer = await fetch(await store.presign(key))
    expect([answer.status, await answer.text(), answer.headers.get('x-amz-meta-type')]).toEqual([200, key, 'plan'])
    await store.delete(key)
    await expect(store.get(key)).rejects.toMatchObject({ status: 404 })
  })

  it('signs links for its public host alone', async () => {
    const store = storeOf({ public_endpoint_url: server.url.replace('127.0.0.1', 'localhost') })
    await store.put('public', 'x', TEXT)
    const link = await store.presign('public')
    expect(new URL(link).hostname).toBe('localhost')
    expect((await fetch(link)).status).toBe(200)
    expect((await fetch(link.replace('localhost', '127.0.0.1'))).status).toBe(403)
  })

  it.each([-2, 2])('is used at its own time where the clock of the machine is %i hours off', async (hours) => {
    const lines: Record<string, unknown>[] = []
    const log = createLogger({ write: (line) => lines.push(JSON.parse(line)) })
    const store = storeOf({}, { log, now: () => new Date(Date.now() + hours * 3_600_000) })
    await store.ensureBuckets()
    await Promise.all(Array.from({ length: 5 }, (_, index) => store.put(`clock-${index}`, 'x', TEXT)))
    expect((await fetch(await store.presign('clock-0'))).status).toBe(200)
    expect(lines).toMatchObject([{ message: expect.stringContaining('the clock of this machine differs') }])
  })

  it('takes the next credentials when it no longer accepts the first', async () => {
    const keys = [{ access_key: 'REPLACED', secret_key: 'x' }, ROOT]
    const lookUp = async () => keys.shift() ?? ROOT
    const credentials = cacheCredentials(lookUp, { now: () => new Date(), log: silentLogger, purpose: 'x' })
    const virtual = { provider: 'S3', access_key: '', secret_key: '' } as const
    // The provider S3 alone has replaceable credentials: its requests are led to the server here.
    const lead: typeof fetch = (input, init) => at(server.url, String(input), init)
    await expect(storeOf(virtual, { credentials, fetch: lead }).get('absent')).rejects.toMatchObject({
      message: expect.stringMatching(/NoSuchKey|SignatureDoesNotMatch|NoSuchBucket|not found/i),
    })
    expect(keys).toEqual([])
  })

  it.each<[string, Partial<StorageConfig>, RegExp]>([
    [
      'another region',
      { region: 'eu-central-1' },
      /\(40[03]; it is in region us-east-1\)|\(400 AuthorizationHeaderMalformed/,
    ],
    ['another secret key', { secret_key: 'wrong-secret-key' }, /\(403 SignatureDoesNotMatch\)/],
    ['an unknown access key', { access_key: 'somebody' }, /\(403 InvalidAccessKeyId\)|\(404 XAdminUserNotFound\)/],
  ])('says what is wrong with %s', async (_, changes, text) => {
    await expect(storeOf(changes).ensureBuckets()).rejects.toThrow(text)
  })

  it('says that a bucket has gone', async () => {
    await expect(storeOf({ bucket: 'never-made' }).put('k', 'x', TEXT)).rejects.toThrow('(404 NoSuchBucket)')
    await expect(storeOf({ bucket: 'never-made' }).get('k')).rejects.toThrow('(404 NoSuchBucket)')
  })

  it('keeps what is uploaded to a bucket with object lock and versions', async () => {
    const url = `${server.url}/locked-artifacts`
    const headers = { 'x-amz-bucket-object-lock-enabled': 'true' }
    expect((await asOwner().fetch(url, { method: 'PUT', headers })).status).toBe(200)
    const body =
      '<ObjectLockConfiguration xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><ObjectLockEnabled>Enabled</ObjectLockEnabled>' +
      '<Rule><DefaultRetention><Mode>GOVERNANCE</Mode><Days>1</Days></DefaultRetention></Rule></ObjectLockConfiguration>'
    const sum = Buffer.from(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(body))).toString('base64')
    const rule = await asOwner().fetch(`${url}?object-lock=`, {
      method: 'PUT',
      body,
      headers: { 'x-amz-checksum-sha256': sum },
    })
    expect([rule.status, rule.ok ? '' : await rule.text()]).toEqual([200, ''])
    const store = storeOf({ bucket: 'locked-artifacts', engine_state_bucket: '' })
    await store.ensureBuckets()
    await store.put('plan.txt', 'first', TEXT)
    await store.put('plan.txt', 'second', TEXT)
    expect(await read(store.get('plan.txt'))).toBe('second')
    await store.delete('plan.txt')
    await expect(store.get('plan.txt')).rejects.toMatchObject({ status: 404 })
  })

  it('is reached with the bucket in front of its host', async () => {
    const other = await start({ domain: 'store.test' })
    try {
      const url = `http://store.test:${new URL(other.url).port}`
      const store = storeOf(
        { addressing: 'virtual' },
        { fetch: (input, init) => at(other.url, String(input), init) },
        url,
      )
      await store.ensureBuckets()
      await store.put('größe/a b+c.txt', 'x', TEXT)
      expect(await read(store.get('größe/a b+c.txt'))).toBe('x')
      const link = await store.presign('größe/a b+c.txt')
      expect(new URL(link).hostname).toBe('platform-artifacts.store.test')
      expect((await at(other.url, link)).status).toBe(200)
    } finally {
      await other.close()
    }
  })

  it('is reached by IPv6', async () => {
    const other = await start({ host: '[::1]' })
    try {
      const store = storeOf({}, {}, other.url)
      await store.ensureBuckets()
      await store.put('k', 'x', TEXT)
      expect((await fetch(await store.presign('k'))).status).toBe(200)
    } finally {
      await other.close()
    }
  })

  it('loses no upload of a worker while it turns requests away', async () => {
    const other = await start({ narrow: true })
    try {
      const statuses = new Set<number>()
      const counting: typeof fetch = async (...call) => {
        const answer = await fetch(...call)
        statuses.add(answer.status)
        return answer
      }
      const store = storeOf({ max_attempts: 1 }, { patient: true, fetch: counting }, other.url)
      await storeOf({ max_attempts: 20 }, {}, other.url).ensureBuckets()
      const body = new Uint8Array(2 * 1024 * 1024)
      await Promise.all(Array.from({ length: 30 }, (_, index) => store.put(`narrow-${index}`, body, TEXT)))
      expect([...statuses].sort()).toEqual([200, name === 'MinIO' ? 429 : 503])
    } finally {
      await other.close()
    }
  })

  it('loses no upload of a worker while it is away', async () => {
    await server.service().kill('SIGKILL')
    const upload = storeOf({ max_attempts: 1 }, { patient: true, backoffMs: 50 }).put('across', 'kept', TEXT)
    await server.start()
    expect(await upload).toBe(4)
    expect(await read(storeOf().get('across'))).toBe('kept')
  })

  it.runIf(name === 'MinIO')('encrypts what is uploaded where that is set', async () => {
    const store = storeOf({ server_side_encryption: 'aws:kms', kms_key_id: 'platform' })
    await store.put('secret', 'x', TEXT)
    const head = await asOwner().fetch(`${server.url}/platform-artifacts/secret`, { method: 'HEAD' })
    expect(head.headers.get('x-amz-server-side-encryption')).toBe('aws:kms')
    expect(await read(store.get('secret'))).toBe('x')
    expect((await fetch(await store.presign('secret'))).status).toBe(200)
  })
})
