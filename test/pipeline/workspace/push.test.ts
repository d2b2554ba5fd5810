import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { startOnce } from '../../helpers/start-once.ts'
import { shortenTimers } from '../../pull-requests/support.ts'
import { startSite } from './support.ts'

const site = startOnce(startSite)
afterEach(() => void vi.unstubAllGlobals())
const BRANCH = 'Platform/2026-01-31_235959-1a2b'
const PUSH = { method: 'POST', path: /git-receive-pack$/ }
const ARCHIVED = 'This repository was archived so it is read-only.'

/** Writes what the host says of a repository. */
const setRules = (uri: string, rules: object) =>
  writeFile(join(site.host.pathOf(uri), 'platform-host.json'), JSON.stringify({ private: false, rules }))

describe('a push whose answer does not arrive', () => {
  it.each([
    ['a 502 after the host took it', { ...PUSH, done: true, answer: { status: 502 } }],
    ['a connection cut after the host took it', { ...PUSH, done: true }],
    ['a 503 before', { ...PUSH, answer: { status: 503 } }],
    ['a limit', { ...PUSH, answer: { status: 429, headers: { 'retry-after': '1' } } }],
    ['a 502 to the question of references', { method: 'GET', path: /git-receive-pack$/, answer: { status: 502 } }],
  ])('ends with the commit on the branch, once: %s', async (_, disturbance) => {
    // The pause before another attempt, and the one that the host asks for.
    shortenTimers(500)
    shortenTimers(1_000)
    const { uri, workspace } = await site.start()
    await writeFile(join(workspace.iacRoot, 'new.tf'), 'one')
    site.host.disturbances.add(disturbance)
    const commit = await workspace.commitAndPush()
    expect(site.host.disturbances.left()).toBe(0)
    expect(await site.remote(uri, 'rev-parse', BRANCH)).toBe(commit)
    expect(await site.remote(uri, 'rev-list', '--count', `main..${BRANCH}`)).toBe('1')
  })

  it('does not hide that somebody else pushed in between', async () => {
    const { uri, workspace } = await site.start()
    const other = await site.remote(uri, 'commit-tree', 'main^{tree}', '-p', 'main', '-m', 'by hand')
    await site.remote(uri, 'update-ref', `refs/heads/${BRANCH}`, other)
    await writeFile(join(workspace.iacRoot, 'new.tf'), 'one')
    site.host.disturbances.add({ ...PUSH, answer: { status: 502 } })
    await expect(workspace.commitAndPush()).rejects.toMatchObject({ status: 500 })
    expect(await site.remote(uri, 'rev-parse', BRANCH)).toBe(other)
    site.host.disturbances.take('POST', 'x/git-receive-pack')
  })
})

describe('a host that refuses a push', () => {
  it('of the branch says why when the round begins', async () => {
    const uri = await site.host.addRepository({
      owner: 'acme',
      name: 'ruled',
      content: { files: { 'main.tf': 'x' } },
      rules: { refused_branches: 'Platform/*' },
    })
    await expect(site.open(uri, { session: crypto.randomUUID() })).rejects.toMatchObject({
      status: 500,
      message: expect.stringContaining(`GH013: Repository rule violations found for refs/heads/${BRANCH}`),
    })
  })

  it('of a repository that was archived meanwhile says so when a later round begins', async () => {
    const { uri, session, workspace } = await site.start()
    const base_commit = await workspace.head()
    await workspace.dispose()
    await setRules(uri, { no_push: ARCHIVED })
    const later = { session, number: 2, base_commit }
    await expect(site.open(uri, later)).rejects.toMatchObject({
      status: 500,
      message: expect.stringContaining(ARCHIVED),
    })
    await (await site.open(uri, { ...later, preview: true, mode: 'drift' })).dispose()
    await setRules(uri, {})
    await (await site.open(uri, later)).dispose()
  })
})
