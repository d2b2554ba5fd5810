import { beforeAll, describe, expect, it } from 'vitest'
import { readReachableHead } from '../../src/repository/head.ts'
import { assertMayPush } from '../../src/repository/push-right.ts'
import { findRootModules } from '../../src/repository/root-modules.ts'
import { startTrustedHost } from '../helpers/git-host-core.ts'
import { startOnce } from '../helpers/start-once.ts'
import { gitContext } from './support.ts'

const host = startOnce(startTrustedHost)
const content = { files: { 'main.tf': 'x' } }
const own = (changes = {}) => gitContext({ base_url: host.url, host: host.host, ...changes })
const ARCHIVED = 'This repository was archived so it is read-only.'
let open: string

beforeAll(async () => {
  open = await host.addRepository({ owner: 'acme', name: 'open', content })
})

describe('the right to push', () => {
  it('is there for the account, and nothing is changed by the question', async () => {
    await expect(assertMayPush(own(), open)).resolves.toBeUndefined()
  })

  it('is missing in an archived repository, in the words of the host', async () => {
    const uri = await host.addRepository({ owner: 'acme', name: 'old', content, rules: { no_push: ARCHIVED } })
    await expect(readReachableHead(own(), uri)).resolves.toBeTruthy()
    await expect(assertMayPush(own(), uri)).rejects.toMatchObject({
      status: 400,
      message: `The git host lets the account of the platform not push to this repository: ${ARCHIVED}`,
    })
  })

  it('is missing with a token that the host does not know, which no text shows', async () => {
    const error = await assertMayPush(own({ token: 'a-wrong-token' }), open).then(null, (reason: Error) => reason)
    expect(error).toMatchObject({ status: 400 })
    expect(error?.message).not.toContain('a-wrong-token')
  })

  it('is missing without an account, and at another host than that of the account', async () => {
    await expect(assertMayPush(own({ token: '' }), open)).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining('no account of the git host is configured'),
    })
    await expect(assertMayPush(gitContext({ allow_private_hosts: [host.host] }), open)).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining("its account is for the git host 'github.com'"),
    })
  })

  it('is not asked for at an address without pull requests', async () => {
    await expect(assertMayPush(own({ provider: 'AZURE_DEVOPS' }), open)).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining('Malformed repository URL'),
    })
  })

  it('is left to the round when the host cannot say', async () => {
    const asking = { method: 'GET', path: /git-receive-pack/ }
    host.disturbances.add(...Array(4).fill({ ...asking, answer: { status: 502 } }))
    await expect(assertMayPush(own(), open)).resolves.toBeUndefined()
    host.disturbances.add(...Array(4).fill(asking))
    await expect(assertMayPush(own(), open)).resolves.toBeUndefined()
    expect(host.disturbances.left()).toBe(0)
  })
})

describe('a repository that was renamed', () => {
  const moved = (moved_to: string, name: string) =>
    host.addRepository({ owner: 'acme', name, content, rules: { moved_to } })

  it('is read, searched and asked for a push at its new address', async () => {
    const uri = await moved('acme/open', 'before')
    await expect(readReachableHead(own(), uri)).resolves.toMatchObject({ branch: 'main' })
    await expect(assertMayPush(own(), uri)).resolves.toBeUndefined()
    await expect(findRootModules(own(), uri)).resolves.toBeTruthy()
    const old = await host.addRepository({ owner: 'acme', name: 'kept', content, rules: { no_push: ARCHIVED } })
    expect(old).toContain('kept')
    await expect(assertMayPush(own(), await moved('acme/kept', 'earlier'))).rejects.toMatchObject({ status: 400 })
  })

  it('is refused at another host, which gets no request', async () => {
    const asked: string[] = []
    const fetch: typeof globalThis.fetch = (input, init) => {
      asked.push(new URL(String(input)).host)
      return globalThis.fetch(input, init)
    }
    const context = gitContext({ base_url: host.url, host: host.host }, { fetch })
    const headers = { location: 'https://example.org/acme/open.git/info/refs?service=git-upload-pack' }
    host.disturbances.add({ method: 'GET', path: /git-upload-pack/, answer: { status: 301, headers } })
    await expect(readReachableHead(context, open)).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining('has another address now'),
    })
    expect(new Set(asked)).toEqual(new Set([host.host]))
  })

  it('that leads in a circle is refused', async () => {
    await moved('acme/two', 'one')
    const uri = await moved('acme/one', 'two')
    await expect(readReachableHead(own(), uri)).rejects.toMatchObject({ status: 400 })
  })
})
