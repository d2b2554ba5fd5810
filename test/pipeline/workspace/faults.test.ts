import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { startOnce } from '../../helpers/start-once.ts'
import { shortenTimers } from '../../pull-requests/support.ts'
import { startSite } from './support.ts'

const site = startOnce(startSite)
const BRANCH = 'Platform/2026-01-31_235959-1a2b'
const REFERENCES = { method: 'GET', path: /git-upload-pack$/ }
const OBJECTS = { method: 'POST', path: /git-upload-pack$/ }
afterEach(() => void vi.unstubAllGlobals())

const files = { 'main.tf': 'x', 'large.tf': `# ${'y'.repeat(50_000)}` }

describe('a clone and a fetch that break', () => {
  it.each([
    ['a 502 to the question of references', { ...REFERENCES, answer: { status: 502 } }],
    ['a connection cut at the question of references', REFERENCES],
    ['a 503 to the question of objects', { ...OBJECTS, answer: { status: 503 } }],
    ['a 504 after the objects were read', { ...OBJECTS, done: true, answer: { status: 504 } }],
    ['a connection cut before the objects', OBJECTS],
    ['a connection cut amid the objects', { ...OBJECTS, done: true, bytes: 60 }],
  ])('are repeated: %s', async (_, disturbance) => {
    shortenTimers(500)
    const session = crypto.randomUUID()
    const uri = await site.add(files)
    site.host.disturbances.add(disturbance)
    const first = await site.open(uri, { session })
    expect(site.host.disturbances.left()).toBe(0)
    expect(await first.head()).toBe(await site.remote(uri, 'rev-parse', 'main'))
    await writeFile(join(first.iacRoot, 'new.tf'), 'one')
    const commit = await first.commitAndPush()
    await first.dispose()
    // The second clone, and the fetch of the session branch after it.
    site.host.disturbances.add(disturbance, disturbance)
    const later = await site.open(uri, { session, number: 2, base_commit: commit })
    expect(site.host.disturbances.left()).toBe(0)
    expect(await later.head()).toBe(commit)
    await later.dispose()
  })

  it('wait as long as the host says', async () => {
    const seven = shortenTimers(7_000)
    const uri = await site.add(files)
    for (const status of [429, 503])
      site.host.disturbances.add({ ...REFERENCES, answer: { status, headers: { 'retry-after': '7' } } })
    const workspace = await site.open(uri, { session: crypto.randomUUID() })
    expect(seven.count).toBe(2)
    await workspace.dispose()
  })

  it('end after four attempts, and at once where the host asks for more than a minute', async () => {
    shortenTimers(500)
    shortenTimers(1_000)
    shortenTimers(2_000)
    const uri = await site.add(files)
    const broken = { ...REFERENCES, answer: { status: 502 } }
    site.host.disturbances.add(...Array(5).fill(broken))
    const opened = () => site.open(uri, { session: crypto.randomUUID() })
    await expect(opened()).rejects.toMatchObject({ status: 500, message: 'git clone failed' })
    expect(site.host.disturbances.left()).toBe(1)
    site.host.disturbances.take('GET', 'x/git-upload-pack')
    site.host.disturbances.add({ ...REFERENCES, answer: { status: 429, headers: { 'retry-after': '600' } } })
    await expect(opened()).rejects.toMatchObject({ status: 500, message: 'git clone failed' })
    expect(site.host.disturbances.left()).toBe(0)
  })
})

describe('a repository that was renamed', () => {
  it('is worked on as before, with its credentials, by clone, fetch and push', async () => {
    const session = crypto.randomUUID()
    const uri = await site.add(files)
    const first = await site.open(uri, { session })
    const base_commit = await first.head()
    await first.dispose()
    const name = `acme/renamed-${session.slice(0, 8)}`
    const now = await site.host.rename(uri, name)
    const later = await site.open(uri, { session, number: 2, base_commit })
    await writeFile(join(later.iacRoot, 'new.tf'), 'two')
    const commit = await later.commitAndPush()
    expect(await site.remote(now, 'rev-parse', BRANCH)).toBe(commit)
    await later.dispose()
  })

  it.each([
    ['another host', 'https://example.org/acme/other.git/info/refs?service=git-upload-pack'],
    ['another port', 'https://127.0.0.1:1/acme/other.git/info/refs?service=git-upload-pack'],
    ['another scheme', 'http://127.0.0.1/acme/other.git/info/refs?service=git-upload-pack'],
    ['a page', '/login'],
  ])('is not looked for at %s', async (_, location) => {
    const uri = await site.add(files)
    site.host.disturbances.add({ ...REFERENCES, answer: { status: 301, headers: { location } } })
    await expect(site.open(uri, { session: crypto.randomUUID() })).rejects.toMatchObject({
      status: 500,
      message: 'git clone failed',
    })
    expect(site.host.disturbances.left()).toBe(0)
  })
})
