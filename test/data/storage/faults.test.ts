import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { describe, expect, it, onTestFinished } from 'vitest'
import { listen } from '../../../dev/server.ts'
import { createLogger } from '../../../src/base/log.ts'
import { createObjectStore } from '../../../src/data/storage/create.ts'
import { refused, storageConfig, TEXT } from './config.ts'

type Handler = (request: IncomingMessage, response: ServerResponse, body: string) => void

async function storeWith(
  handler: Handler,
  overrides: Parameters<typeof storageConfig>[0] = {},
  cors_origins: string[] = [],
) {
  const calls: string[] = []
  const bodies: string[] = []
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    calls.push(`${request.method} ${request.url}`)
    bodies.push(body)
    handler(request, response, body)
  })
  const { url, close } = await listen(server)
  onTestFinished(close)
  const lines: string[] = []
  const log = createLogger({ write: (line) => lines.push(line) })
  const config = storageConfig({ endpoint_url: url, ...overrides })
  return { store: createObjectStore(config, { fetch, log, cors_origins, backoffMs: 1 }), calls, bodies, lines, close }
}

const status =
  (code: number, text = ''): Handler =>
  (_request, response) =>
    response.writeHead(code).end(text)

describe('a store in trouble', () => {
  it.each([
    [500, 500, 'The object store refused the upload of k (500 InternalError).'],
    [503, 503, 'The object store cannot be reached.'],
  ])('that answers %i is asked max_attempts times', async (code, expected, message) => {
    const { store, calls } = await storeWith(status(code, '<Error><Code>InternalError</Code></Error>'))
    await expect(store.put('k', 'x', TEXT)).rejects.toMatchObject({ status: expected, message })
    expect(calls).toHaveLength(3)
  })

  it('that recovers is not noticed', async () => {
    let left = 2
    const { store, bodies } = await storeWith((request, response, body) =>
      status(left-- > 0 ? 500 : 200)(request, response, body),
    )
    expect(await store.put('k', 'content', TEXT)).toBe(7)
    expect(bodies).toEqual(['content', 'content', 'content'])
  })

  it('that refuses is asked once', async () => {
    const { store, calls } = await storeWith(status(403, '<Error><Code>AccessDenied</Code></Error>'))
    await expect(store.get('k')).rejects.toMatchObject(refused('read of k', '403 AccessDenied'))
    expect(calls).toHaveLength(1)
  })

  it('that answers more than may be read is an error, the usual size is not', async () => {
    const { store } = await storeWith(status(200, 'x'.repeat(5_000)), { max_attempts: 1 })
    expect((await store.get('k', { maxBytes: 5_000 })).byteLength).toBe(5_000)
    expect((await store.get('k')).byteLength).toBe(5_000)
    await expect(store.get('k', { maxBytes: 4_999 })).rejects.toMatchObject({ status: 503 })
  })

  it('that hangs is given up after the configured attempts', async () => {
    const { store, calls } = await storeWith(() => {}, { connect_timeout: 0.02, read_timeout: 0.03, max_attempts: 2 })
    const unreachable = { status: 503, message: 'The object store cannot be reached.' }
    await expect(store.put('k', 'x', TEXT)).rejects.toMatchObject(unreachable)
    expect(calls).toHaveLength(2)
  })

  it('that breaks the connection is asked again', async () => {
    const { store, calls } = await storeWith((_request, response) => response.destroy())
    await expect(store.get('k')).rejects.toMatchObject({ status: 503 })
    expect(calls).toHaveLength(3)
  })

  it('that is not there is unavailable', async () => {
    const { store, close } = await storeWith(status(200))
    await close()
    await expect(store.ensureBuckets()).rejects.toMatchObject({ status: 503 })
    expect(await store.presign('k')).toContain('X-Amz-Signature')
  })

  it('is not waited for by a cancelled upload', async () => {
    const controller = new AbortController()
    const { store, calls } = await storeWith(() => controller.abort())
    const upload = store.put('k', 'x', { ...TEXT, signal: controller.signal })
    await expect(upload).rejects.toMatchObject({ name: 'OutboundError', kind: 'aborted' })
    expect(calls).toHaveLength(1)
  })
})

describe('creating buckets', () => {
  const absent: Handler = (request, response) => response.writeHead(request.method === 'HEAD' ? 404 : 200).end()

  it('lets browsers read what it created', async () => {
    const { store, calls, bodies } = await storeWith(absent, {}, ['https://console.example', 'http://a&b'])
    await store.ensureBuckets()
    expect(calls).toEqual([
      'HEAD /platform-artifacts',
      'PUT /platform-artifacts',
      'PUT /platform-artifacts?cors=',
      'HEAD /platform-terraform-state',
      'PUT /platform-terraform-state',
    ])
    expect(bodies[1]).toBe('')
    for (const part of [
      '<AllowedOrigin>https://console.example</AllowedOrigin>',
      '<AllowedOrigin>http://a&amp;b</AllowedOrigin>',
      '<AllowedMethod>GET</AllowedMethod>',
      '<AllowedMethod>HEAD</AllowedMethod>',
      '<AllowedHeader>*</AllowedHeader>',
      '<MaxAgeSeconds>3600</MaxAgeSeconds>',
      '<ExposeHeader>x-amz-meta-type</ExposeHeader>',
      '<ExposeHeader>x-amz-meta-new_file</ExposeHeader>',
    ])
      expect(bodies[2]).toContain(part)
  })

  it('goes on when the store knows no CORS rules', async () => {
    const { store, lines } = await storeWith(
      (request, response) =>
        response.writeHead(request.method === 'HEAD' ? 404 : request.url?.includes('cors') ? 501 : 200).end(),
      {},
      ['https://console.example'],
    )
    await store.ensureBuckets()
    expect(lines.map((line) => JSON.parse(line).message)).toEqual([
      'bucket created',
      'the bucket has no CORS rule',
      'bucket created',
    ])
  })

  it('leaves the rules of an existing bucket alone', async () => {
    const { store, calls } = await storeWith(status(200), {}, ['https://console.example'])
    await store.ensureBuckets()
    expect(calls).toEqual(['HEAD /platform-artifacts', 'HEAD /platform-terraform-state'])
  })

  /** Makes a store that knows no bucket and refuses to create one. */
  const refusing = (status: number, code: string) =>
    storeWith((request, response) =>
      request.method === 'HEAD'
        ? response.writeHead(404).end()
        : response.writeHead(status).end(`<Error><Code>${code}</Code></Error>`),
    )

  it.each(['BucketAlreadyOwnedByYou', 'BucketAlreadyExists'])('takes %s for success', async (code) => {
    await (await refusing(409, code)).store.ensureBuckets()
  })

  it('fails for any other refusal', async () => {
    const { store } = await refusing(400, 'InvalidBucketName')
    const refusal = refused('creation of bucket platform-artifacts', '400 InvalidBucketName')
    await expect(store.ensureBuckets()).rejects.toMatchObject(refusal)
  })
})
