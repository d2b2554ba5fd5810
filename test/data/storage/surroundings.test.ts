import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { describe, expect, it, onTestFinished } from 'vitest'
import { listen } from '../../../dev/server.ts'
import { cacheCredentials } from '../../../src/aws/chain.ts'
import { createLogger } from '../../../src/base/log.ts'
import { createObjectStore, type StorageDeps } from '../../../src/data/storage/create.ts'
import { storageConfig, TEXT } from './config.ts'

type Handler = (request: IncomingMessage, response: ServerResponse, body: Buffer) => void

async function storeWith(
  handler: Handler,
  overrides: Parameters<typeof storageConfig>[0] = {},
  deps: Partial<StorageDeps> = {},
) {
  const seen: IncomingMessage[] = []
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    seen.push(request)
    handler(request, response, Buffer.concat(chunks))
  })
  const { url, close } = await listen(server)
  onTestFinished(close)
  const lines: Record<string, unknown>[] = []
  const log = createLogger({ write: (line) => lines.push(JSON.parse(line)) })
  const config = storageConfig({ endpoint_url: url, public_endpoint_url: url, ...overrides })
  return { store: createObjectStore(config, { fetch, log, backoffMs: 1, ...deps }), seen, lines }
}

const refuse = (response: ServerResponse, status: number, code: string, text = '', headers = {}) =>
  response.writeHead(status, headers).end(`<Error><Code>${code}</Code><Message>${text}</Message></Error>`)

const HOUR_MS = 3_600_000
const dateOf = (text: unknown) =>
  Date.parse(String(text).replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z'))

describe('a clock that is not that of the store', () => {
  /** Refuses requests whose time differs from that of the server by a quarter of an hour, as S3 and Azure do. */
  const strict =
    (header: string, code: string): Handler =>
    (request, response) =>
      Math.abs(dateOf(request.headers[header]) - Date.now()) > HOUR_MS / 4
        ? refuse(response, 403, code)
        : response.writeHead(header === 'x-ms-date' ? 201 : 200).end('content')

  it.each([
    ['S3', 'x-amz-date', 'RequestTimeTooSkewed', {}],
    [
      'blob storage',
      'x-ms-date',
      'AuthenticationFailed',
      { provider: 'STORAGE_ACCOUNT', account_name: 'account', account_key: btoa('key') } as const,
    ],
  ])('is corrected for %s, for all who upload at the time and for links', async (_, header, code, overrides) => {
    let ahead = -2 * HOUR_MS
    const now = () => new Date(Date.now() + ahead)
    const { store, seen, lines } = await storeWith(strict(header, code), overrides, { now })
    await Promise.all(Array.from({ length: 8 }, (_, index) => store.put(`key-${index}`, 'x', TEXT)))
    const afterFirst = seen.length
    await store.put('later', 'x', TEXT)
    expect(seen.length).toBe(afterFirst + 1)
    const link = new URL(await store.presign('later'))
    const signed = link.searchParams.get('X-Amz-Date')
    const time = signed ? dateOf(signed) : Date.parse(link.searchParams.get('se') ?? '') - 172_800_000
    expect(Math.abs(time - Date.now())).toBeLessThan(HOUR_MS / 4)
    const message = 'the clock of this machine differs from that of the object store, whose time is used'
    expect(lines.at(-1)).toMatchObject({ message })
    // The clock of the machine is set right: the correction goes.
    ahead = 0
    await store.put('last', 'x', TEXT)
    expect(lines.at(-1)).toMatchObject({ message, seconds: expect.closeTo(0, -1) })
  })

  it('is not the reason of a refusal of another kind', async () => {
    const { store, seen } = await storeWith((_, response) => refuse(response, 403, 'AccessDenied'))
    await expect(store.put('k', 'x', TEXT)).rejects.toThrow('403 AccessDenied')
    expect(seen).toHaveLength(1)
  })

  it('every attempt is signed at its own time', async () => {
    let time = Date.parse('2026-01-01T00:00:00Z')
    const now = () => {
      time += 60_000
      return new Date(time)
    }
    const { store, seen } = await storeWith((_, response) => refuse(response, 500, 'InternalError'), {}, { now })
    await expect(store.put('k', 'x', TEXT)).rejects.toThrow('500 InternalError')
    expect(new Set(seen.map(({ headers }) => headers.authorization)).size).toBe(3)
  })
})

describe('a store that is busy or away for longer', () => {
  const busyFor =
    (times: number): Handler =>
    (_, response) =>
      times-- > 0 ? refuse(response, 503, 'SlowDown', '', {}) : response.writeHead(200).end('content')

  it('is waited for by a worker, for uploads and reads', async () => {
    const { store, lines } = await storeWith(busyFor(20), {}, { patient: true })
    expect(await store.put('k', 'content', TEXT)).toBe(7)
    expect(lines).toMatchObject([
      { message: 'the object store is away or busy, trying again', status: 503, code: 'SlowDown' },
    ])
    const { store: other } = await storeWith(busyFor(20), {}, { patient: true })
    expect((await other.get('k')).byteLength).toBe(7)
  })

  it('is waited for when it takes no connection', async () => {
    const { url, close } = await listen(createServer((_, response) => response.end()))
    await close()
    const server = createServer((_, response) => response.end())
    onTestFinished(() => void server.close())
    const comingBack: typeof fetch = (...request) =>
      fetch(...request).catch(async (error: unknown) => {
        const port = Number(new URL(url).port)
        if (!server.listening) await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
        throw error
      })
    const config = storageConfig({ endpoint_url: url, max_attempts: 1 })
    const log = createLogger({ write: () => {} })
    const store = createObjectStore(config, { fetch: comingBack, log, backoffMs: 1, patient: true })
    expect(await store.put('k', 'x', TEXT)).toBe(1)
  })

  it('is waited for until retry_seconds are over', async () => {
    const { store } = await storeWith(busyFor(Number.POSITIVE_INFINITY), { retry_seconds: 0 }, { patient: true })
    await expect(store.put('k', 'x', TEXT)).rejects.toMatchObject({ status: 503 })
  })

  it('keeps no caller of the core waiting, nor the start', async () => {
    const core = await storeWith(busyFor(Number.POSITIVE_INFINITY))
    await expect(core.store.get('k')).rejects.toMatchObject({ status: 503 })
    expect(core.seen).toHaveLength(3)
    const worker = await storeWith(busyFor(Number.POSITIVE_INFINITY), {}, { patient: true })
    await expect(worker.store.ensureBuckets()).rejects.toMatchObject({ status: 503 })
    expect(worker.seen).toHaveLength(3)
  })

  it('is given up as soon as the round is cancelled', async () => {
    const controller = new AbortController()
    const { store } = await storeWith(busyFor(Number.POSITIVE_INFINITY), {}, { patient: true, backoffMs: 1_000_000 })
    const upload = store.put('k', 'x', { ...TEXT, signal: controller.signal })
    setTimeout(() => controller.abort(), 50)
    await expect(upload).rejects.toMatchObject({ kind: 'aborted' })
  })

  it('has more time for more bytes', async () => {
    const { store } = await storeWith((_, response) => void setTimeout(() => response.writeHead(200).end(), 400), {
      connect_timeout: 0.02,
      read_timeout: 0.03,
      max_attempts: 1,
    })
    await expect(store.put('small', 'x', TEXT)).rejects.toMatchObject({ status: 503 })
    await store.put('large', new Uint8Array(1024 * 1024), TEXT)
  })
})

describe('credentials that lapse before their time', () => {
  const source = (names: string[]) => {
    const left = [...names]
    const lookUp = async () => ({
      access_key: left.length > 1 ? String(left.shift()) : (names.at(-1) ?? ''),
      secret_key: 's',
    })
    return cacheCredentials(lookUp, { now: () => new Date(), log: createLogger({ write: () => {} }), purpose: 'x' })
  }
  const accepting =
    (key: string, code: string): Handler =>
    (request, response) =>
      request.headers.authorization?.includes(`Credential=${key}/`)
        ? response.writeHead(200).end('content')
        : refuse(response, code === 'InvalidAccessKeyId' ? 403 : 400, code)
  const s3 = (url: string) => ({ provider: 'S3', access_key: '', secret_key: '', endpoint_url: url }) as const
  /** Leads the requests for the regional address to the fake server. */
  const redirected =
    (url: () => string): typeof fetch =>
    (input, init) => {
      const { pathname, search } = new URL(String(input))
      return fetch(`${url()}${pathname}${search}`, init)
    }

  it.each(['ExpiredToken', 'InvalidAccessKeyId'])('are renewed on %s, and the call is repeated', async (code) => {
    const server = createServer((request, response) => {
      seen.push(request)
      request.resume().on('end', () => accepting('second', code)(request, response, Buffer.alloc(0)))
    })
    const seen: IncomingMessage[] = []
    const { url, close } = await listen(server)
    onTestFinished(close)
    const log = createLogger({ write: () => {} })
    const credentials = source(['first', 'second'])
    const store = createObjectStore(storageConfig(s3(url)), {
      fetch: redirected(() => url),
      log,
      credentials,
      backoffMs: 1,
    })
    await Promise.all(Array.from({ length: 5 }, (_, index) => store.put(`key-${index}`, 'x', TEXT)))
    expect(new TextDecoder().decode(await store.get('k'))).toBe('content')
    const before = seen.length
    await store.get('k')
    expect(seen.length).toBe(before + 1)
  })

  it('are not asked for again and again when there are no others', async () => {
    const { store, seen } = await storeWith(accepting('nobody', 'InvalidAccessKeyId'))
    await expect(store.get('k')).rejects.toThrow('403 InvalidAccessKeyId')
    expect(seen).toHaveLength(1)
  })
})

describe('what a bucket demands of uploads', () => {
  const bytes = new Uint8Array(100_000).map((_, index) => index % 251)

  it.each([
    ['Content-MD5 OR x-amz-checksum- HTTP header is required', 'x-amz-checksum-sha256'],
    ['Content-MD5 HTTP header is required', 'content-md5'],
  ])('%s: it gets it, from then on without being asked', async (message, header) => {
    const { createHash } = await import('node:crypto')
    const { store, seen } = await storeWith((request, response, body) => {
      const sum = createHash(header === 'content-md5' ? 'md5' : 'sha256')
        .update(body)
        .digest('base64')
      if (request.headers[header] === sum) response.writeHead(200).end()
      else refuse(response, 400, 'InvalidRequest', message)
    })
    await store.put('k', bytes, TEXT)
    await store.put('k', 'ü', TEXT)
    expect(seen).toHaveLength(3)
    expect(seen[0]?.headers).not.toHaveProperty(header)
    expect(seen[1]?.headers.authorization).toContain(header)
  })

  it('encryption: every upload asks for it, and nothing else does', async () => {
    const { store, seen } = await storeWith((_, response) => response.writeHead(200).end('x'), {
      server_side_encryption: 'aws:kms',
      kms_key_id: 'alias/platform',
    })
    await store.put('k', 'x', TEXT)
    await store.get('k')
    expect(seen.map(({ headers }) => headers['x-amz-server-side-encryption'])).toEqual(['aws:kms', undefined])
    expect(seen[0]?.headers['x-amz-server-side-encryption-aws-kms-key-id']).toBe('alias/platform')
  })
})

describe('addresses', () => {
  const pathOf = (url: string) => url.split('?')[0]
  const linkOf = async (overrides: Parameters<typeof storageConfig>[0]) =>
    pathOf(
      await createObjectStore(storageConfig(overrides), { fetch, log: createLogger({ write: () => {} }) }).presign(
        'a b/ü',
      ),
    )

  it.each([
    ['https://files.example.com', 'path', 'https://files.example.com/platform-artifacts/a%20b/%C3%BC'],
    ['https://files.example.com', 'virtual', 'https://platform-artifacts.files.example.com/a%20b/%C3%BC'],
    ['https://files.example.com/s3/', 'path', 'https://files.example.com/s3/platform-artifacts/a%20b/%C3%BC'],
    ['http://[fd00::1]:9000', 'path', 'http://[fd00::1]:9000/platform-artifacts/a%20b/%C3%BC'],
    ['http://store:9000', 'virtual', 'http://platform-artifacts.store:9000/a%20b/%C3%BC'],
  ] as const)('of %s by %s', async (public_endpoint_url, addressing, expected) => {
    expect(await linkOf({ public_endpoint_url, addressing })).toBe(expected)
  })

  it.each([
    [301, 'PermanentRedirect', { 'x-amz-bucket-region': 'eu-north-1' }, ''],
    [400, 'AuthorizationHeaderMalformed', {}, 'the region is wrong</Message><Region>eu-north-1</Region><Message>'],
  ])('of another region: %i %s says which', async (status, code, headers, text) => {
    const { store } = await storeWith((_, response) => refuse(response, status, code, text, headers))
    await expect(store.put('k', 'x', TEXT)).rejects.toThrow(
      `The object store refused the upload of k (${status} ${code}; it is in region eu-north-1).`,
    )
  })
})
