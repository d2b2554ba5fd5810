import { request } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createAuthzApp } from '../../../sidecars/authz/main.ts'
import { createMappingApp } from '../../../sidecars/mapping/main.ts'
import { silentLogger } from '../../../src/base/log.ts'
import { type Running, serve } from '../../../src/runtime/serve.ts'

const store = { read: async () => new Map(), change: async () => {} }
let mapping: Running
let authz: Running
beforeAll(async () => {
  const options = { port: 0, hostname: '127.0.0.1' }
  const apps = [
    createMappingApp({ token: '', catalogue: null, strict: false, log: silentLogger }),
    createAuthzApp({ token: '', permissive: true, store, log: silentLogger }),
  ]
  ;[mapping, authz] = (await Promise.all(apps.map((app) => serve((each) => app.fetch(each), options)))) as [
    Running,
    Running,
  ]
})
afterAll(() => Promise.all([mapping.close(1000), authz.close(1000)]))

/** Sends a body without its length. */
const inChunks = (url: string, chunks: string[]) =>
  new Promise<number | undefined>((resolve, reject) => {
    const sent = request(url, { method: 'POST', headers: { 'content-type': 'application/json' } }, (answer) => {
      answer.resume()
      resolve(answer.statusCode)
    })
    sent.on('error', reject)
    for (const chunk of chunks) sent.write(chunk)
    sent.end()
  })

describe('bodies of the small sidecars on a real server', () => {
  it('may come in chunks without their length', async () => {
    expect(await inChunks(`${mapping.url}/v1/resolve`, ['{"identi', 'fier":"a"}'])).toBe(200)
  })

  it('are refused when they are too large, with their length and without', async () => {
    const large = JSON.stringify({ identifier: 'x'.repeat(100_000) })
    expect((await fetch(`${mapping.url}/v1/resolve`, { method: 'POST', body: large })).status).toBe(413)
    expect(await inChunks(`${mapping.url}/v1/resolve`, [large])).toBe(413)
  })

  it('may be absent where none is asked for', async () => {
    expect((await fetch(`${authz.url}/v1/users/a/roles/user`, { method: 'DELETE' })).status).toBe(403)
  })
})
