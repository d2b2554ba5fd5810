import { execFileSync } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { StorageConfig } from '../../../../config/types.ts'
import { createLogger, silentLogger } from '../../../../src/base/log.ts'
import { createObjectStore, type StorageDeps } from '../../../../src/data/storage/create.ts'
import { storageConfig } from '../../../data/storage/config.ts'
import { type Minio, ORIGIN, REGION, ROOT, startMinio } from './server.ts'

let minio: Minio
beforeAll(async () => {
  minio = await startMinio()
})
afterAll(() => minio?.close())

const storeOf = (changes: Partial<StorageConfig> = {}, deps: Partial<StorageDeps> = {}, url = minio.url) =>
  createObjectStore(
    storageConfig({ endpoint_url: url, public_endpoint_url: url, region: REGION, ...ROOT, ...changes }),
    { fetch, log: silentLogger, ...deps },
  )
const TEXT = { content_type: 'text/plain' }

describe('the object store of the platform on MinIO', () => {
  it('makes its buckets once, and says where web pages are let in', async () => {
    const lines: Record<string, unknown>[] = []
    const log = createLogger({ level: 'info', write: (line) => lines.push(JSON.parse(line)) })
    const store = storeOf({}, { log, cors_origins: [ORIGIN] })
    await store.ensureBuckets()
    await store.ensureBuckets()
    expect(lines.filter(({ message }) => message === 'bucket created')).toHaveLength(2)
    const warning = lines.find(({ level }) => level === 'warn')
    expect(warning).toMatchObject({ message: 'the bucket has no CORS rule', status: 501, code: 'NotImplemented' })
    await store.put('page', 'x', { ...TEXT, metadata: { type: 'plan' } })
    const read = await fetch(await store.presign('page'), { headers: { origin: ORIGIN, range: 'bytes=0-0' } })
    expect([read.status, read.headers.get('access-control-allow-origin')]).toEqual([206, ORIGIN])
  })

  it.each([
    "sessions/1/rounds/2/changes/ab12-Größe (1)+'x'!*.tf",
    'a b/c  d.txt',
    'größe/日本語/🚀.tf',
    'a%2Fb%20c%41.txt',
    'quotes\'()*!~"<>[]{}|^`.txt',
    'back\\slash.txt',
    '...dots../.hidden',
  ])('keeps the key %j', async (key) => {
    const store = storeOf()
    await store.put(key, key, { ...TEXT, metadata: { type: 'plan' } })
    expect(new TextDecoder().decode(await store.get(key))).toBe(key)
    const answer = await fetch(await store.presign(key))
    expect([answer.status, await answer.text(), answer.headers.get('x-amz-meta-type')]).toEqual([200, key, 'plan'])
    await store.delete(key)
    await expect(store.get(key)).rejects.toMatchObject({ status: 404, message: `Object not found: ${key}` })
  })

  it('keeps large objects, and reads none that is larger than asked for', async () => {
    const store = storeOf()
    const bytes = new Uint8Array(60 * 1024 * 1024).map((_, index) => index % 251)
    expect(await store.put('large', bytes, TEXT)).toBe(bytes.length)
    expect(Buffer.compare(await store.get('large'), bytes)).toBe(0)
    await expect(store.get('large', { maxBytes: 1024 })).rejects.toMatchObject({ name: expect.any(String) })
  })

  it.each<[string, Partial<StorageConfig>, string]>([
    ['another region', { region: 'eu-central-1' }, 'platform-artifacts (400; it is in region us-east-1)'],
    ['another secret key', { secret_key: 'wrong-secret-key' }, 'platform-artifacts (403 SignatureDoesNotMatch)'],
    ['an unknown access key', { access_key: 'somebody' }, 'platform-artifacts (403 InvalidAccessKeyId)'],
  ])('says what is wrong with %s', async (_, changes, text) => {
    await expect(storeOf(changes).ensureBuckets()).rejects.toMatchObject({
      message: expect.stringContaining(text),
    })
  })

  it('goes on when the store comes back, and says that it is away', async () => {
    const store = storeOf({ max_attempts: 2 }, { backoffMs: 10 })
    await store.put('before', 'x', TEXT)
    await minio.service().kill('SIGKILL')
    await expect(store.put('during', 'x', TEXT)).rejects.toMatchObject({
      status: 503,
      message: 'The object store cannot be reached.',
    })
    const waiting = storeOf({ max_attempts: 10 }, { backoffMs: 50 }).put('across', 'y', TEXT)
    await minio.start()
    expect(await waiting).toBe(1)
    expect(new TextDecoder().decode(await store.get('before'))).toBe('x')
  })

  it('says so when its disk is full, and takes more when there is room again', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'minio-full-'))
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=40m', 'tmpfs', folder])
    const full = await startMinio({ data_dir: folder })
    try {
      const store = storeOf({ max_attempts: 1 }, {}, full.url)
      await store.ensureBuckets()
      await store.put('small', 'kept', TEXT)
      await writeFile(join(folder, 'ballast'), new Uint8Array(36 * 1024 * 1024))
      const refused = await store.put('big', new Uint8Array(8 * 1024 * 1024), TEXT).catch((error: Error) => error)
      expect(refused).toMatchObject({
        message: expect.stringMatching(
          /^The object store refused the upload of big \((500 InternalError|507 \w+)\)\.$/,
        ),
      })
      expect(new TextDecoder().decode(await store.get('small'))).toBe('kept')
      await rm(join(folder, 'ballast'))
      await store.put('big', new Uint8Array(8 * 1024 * 1024), TEXT)
    } finally {
      await full.close()
      execFileSync('umount', [folder])
      await rm(folder, { recursive: true, force: true })
    }
  })
})
