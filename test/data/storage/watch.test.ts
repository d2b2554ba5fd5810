import { createServer } from 'node:http'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { StorageConfig } from '../../../config/types.ts'
import { listen } from '../../../dev/server.ts'
import { createLogger } from '../../../src/base/log.ts'
import { createObjectStore } from '../../../src/data/storage/create.ts'
import { WITHOUT_STORE } from '../../../src/data/storage/watch.ts'
import { eventually } from '../../helpers/eventually.ts'
import { storageConfig } from './config.ts'

async function watched(config: Partial<StorageConfig>) {
  let status = 200
  let time = Date.now()
  const asked: string[] = []
  const server = createServer((request, response) => {
    response.setHeader('date', new Date(time).toUTCString())
    asked.push(`${request.method} ${request.url}`)
    if (status > 0) response.writeHead(status).end()
  })
  const { url, close } = await listen(server)
  onTestFinished(close)
  const lines: Record<string, unknown>[] = []
  const log = createLogger({ write: (line) => lines.push(JSON.parse(line)) })
  const store = createObjectStore(storageConfig({ endpoint_url: url, max_attempts: 1, ...config }), {
    ...{ fetch, log },
    now: () => new Date(time),
  })
  return {
    store,
    asked,
    lines,
    answer: (next: number) => {
      status = next
      time += 60_000
    },
  }
}

describe.each<[string, Partial<StorageConfig>, string]>([
  ['S3', {}, 'HEAD /platform-artifacts'],
  [
    'Azure',
    { provider: 'STORAGE_ACCOUNT', account_name: 'account', account_key: btoa('key') },
    'HEAD /platform-artifacts?restype=container',
  ],
])('a look at a store of %s', (_, config, request) => {
  it('is one request, however often it is asked for', async () => {
    const { store, asked, answer } = await watched(config)
    for (let count = 0; count < 20; count++) expect(store.isOn()).toBe(true)
    await eventually(() => expect(asked).toEqual([request]))
    answer(200)
    await eventually(() => {
      expect(store.isOn()).toBe(true)
      expect(asked).toEqual([request, request])
    })
  })

  it.each([403, 404, 500, 503])('that answers %i says so once, and when it is back', async (status) => {
    const { store, lines, answer } = await watched(config)
    answer(status)
    await eventually(() => expect(store.isOn()).toBe(false))
    answer(status)
    expect(store.isOn()).toBe(false)
    // The second look has to end before a third one can begin.
    await eventually(() => {
      answer(200)
      expect(store.isOn()).toBe(true)
    })
    expect(lines).toMatchObject([
      { level: 'warn', message: 'the object store cannot be used', effect: WITHOUT_STORE },
      { level: 'info', message: 'the object store is back' },
    ])
  })

  it('that never answers is given up', async () => {
    const { store, answer } = await watched({ ...config, connect_timeout: 0.1, read_timeout: 0.1 })
    answer(0)
    expect(store.isOn()).toBe(true)
    await eventually(() => expect(store.isOn()).toBe(false))
  })
})
