import { createServer, type Server, type ServerResponse } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createFetch } from '../../src/runtime/fetch.ts'

const waiting: ServerResponse[] = []
let server: Server
let url: string
beforeAll(async () => {
  server = createServer((request, response) => (request.url === '/now' ? response.end('now') : waiting.push(response)))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
})

describe('fetch of the processes', () => {
  it('obeys the limit it is given, so that the limits of the runtime are not in force', async () => {
    await expect(createFetch(50)(`${url}/never`)).rejects.toMatchObject({ cause: { name: 'HeadersTimeoutError' } })
  })

  it('answers, takes a body and is cancelled like any fetch', async () => {
    const patient = createFetch()
    expect(await (await patient(`${url}/now`, { method: 'POST', body: 'x' })).text()).toBe('now')
    const controller = new AbortController()
    const pending = patient(`${url}/never`, { signal: controller.signal })
    await expect.poll(() => waiting.length).toBeGreaterThan(0)
    controller.abort()
    await expect(pending).rejects.toMatchObject({ name: 'AbortError' })
  })
})
