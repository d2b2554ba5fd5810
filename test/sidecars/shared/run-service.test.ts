import { get } from 'node:http'
import { text } from 'node:stream/consumers'
import { describe, expect, it } from 'vitest'
import { type OpenService, type Service, startService } from '../../../sidecars/shared/run-service.ts'
import { silentLogger } from '../../../src/base/log.ts'
import { serve } from '../../../src/runtime/serve.ts'

const SETTINGS = { host: '127.0.0.1', port: 0, token: 'token-of-the-service' }

const serviceOf = (opened: OpenService): Service<typeof SETTINGS> => ({
  name: 'test',
  tokenVariable: 'PLATFORM_TEST_TOKEN',
  readSettings: () => SETTINGS,
  open: async () => opened,
})

/** Makes a handler whose answers wait until they are released. */
function holding() {
  const received = Promise.withResolvers<void>()
  const released = Promise.withResolvers<void>()
  const fetch = async () => {
    received.resolve()
    await released.promise
    return new Response('released')
  }
  return { fetch, received: received.promise, release: released.resolve }
}

/** Requests on a connection that ends with the answer, so that only the answer delays the server's end. */
const getOnce = (url: string): Promise<string> =>
  new Promise((resolve, reject) => {
    get(url, { agent: false }, (response) => resolve(text(response))).on('error', reject)
  })

describe('a service that is stopped', () => {
  it('gives the answers that waited for its work, then ends', async () => {
    const { fetch: handler, received, release } = holding()
    const running = await startService(
      serviceOf({ fetch: handler, close: async () => release() }),
      SETTINGS,
      silentLogger,
    )
    const answer = getOnce(running.url)
    await received
    await running.stop()
    expect(await answer).toBe('released')
    await expect(fetch(running.url)).rejects.toThrow()
  })

  it('ends what it has opened when its port is taken', async () => {
    const first = await startService(serviceOf({ fetch: () => new Response('first') }), SETTINGS, silentLogger)
    let closed = 0
    const second = serviceOf({
      fetch: () => new Response('second'),
      close: async () => {
        closed++
      },
    })
    const port = Number(new URL(first.url).port)
    await expect(startService(second, { ...SETTINGS, port }, silentLogger)).rejects.toThrow(/EADDRINUSE/)
    expect(closed).toBe(1)
    await first.stop()
  })
})

describe('the limit for open requests', () => {
  it('counts from the end of the work that they may wait for', async () => {
    const { fetch: handler, received } = holding()
    const server = await serve(handler, { hostname: '127.0.0.1', port: 0 })
    const outcomes: string[] = []
    const answer = fetch(server.url).then(
      () => outcomes.push('answered'),
      () => outcomes.push('cut'),
    )
    await received
    const work = Promise.withResolvers<void>()
    const closed = server.close(0, work.promise)
    // A new connection is refused, because the server has begun to close; the first one is not cut.
    await expect(fetch(server.url)).rejects.toThrow()
    expect(outcomes).toEqual([])
    work.resolve()
    await Promise.all([closed, answer])
    expect(outcomes).toEqual(['cut'])
  })
})
