import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { dirname, join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { loadCertificates } from '../../dev/git-host/certificates.ts'
import { type GitHost, startGitHost } from '../../dev/git-host/start.ts'
import { isPublicAddress } from '../../src/repository/allowed-addresses.ts'
import { readReachableHead } from '../../src/repository/head.ts'
import type { HostResolver, PinnedFetch } from '../../src/repository/remote.ts'
import { findRootModules } from '../../src/repository/root-modules.ts'
import { createPinnedFetch } from '../../src/runtime/fetch.ts'
import { temporaryFolder } from '../helpers/folder.ts'
import { gitContext, trust, unreachable } from './support.ts'

const pinnedFetch = createPinnedFetch()
const PUBLIC = '93.184.216.34'
const folder = temporaryFolder()
let host: GitHost
let filled: string
/** A server with a valid certificate for `localhost` to which a second lookup would lead. */
let inside: Server
let port: number
let connections: number
let answer: { status: number; location?: string }

beforeAll(async () => {
  host = await startGitHost({ data_dir: join(folder, 'host'), user: 'bot', token: 'token-of-the-bot', samples: false })
  const address = await host.addRepository({
    owner: 'acme',
    name: 'infra',
    content: { files: { 'live/main.tf': 'x' } },
  })
  filled = address.replace('127.0.0.1', 'localhost')
  const { cert, key } = await loadCertificates(dirname(host.ca_file))
  trust(host.caPem)
  inside = createServer({ cert, key }, (_, response) => {
    response.writeHead(answer.status, answer.location === undefined ? {} : { location: answer.location }).end('inside')
  })
  inside.on('connection', () => connections++)
  await new Promise<void>((resolve) => inside.listen(0, '127.0.0.1', resolve))
  port = (inside.address() as AddressInfo).port
})
afterAll(async () => {
  inside?.closeAllConnections()
  inside?.close()
  await host?.close()
})
afterEach(() => {
  connections = 0
  answer = { status: 404 }
})
connections = 0
answer = { status: 404 }

/** Aborts connections to internet addresses early, and records the pinned addresses. */
function recorded() {
  const pins: [string, readonly string[]][] = []
  const pinned: PinnedFetch = (url, addresses) => {
    pins.push([url.hostname, addresses])
    const fetch = pinnedFetch(url, addresses)
    const away = addresses.includes(PUBLIC)
    return (input, init) => fetch(input, away ? { ...init, signal: AbortSignal.timeout(300) } : init)
  }
  return { pins, pinned }
}
/** Resolves to these addresses in turn and repeats the last ones. */
function answering(...answers: string[][]): HostResolver & { asked: number } {
  const resolver = Object.assign(async () => answers[Math.min(resolver.asked++, answers.length - 1)] ?? [], {
    asked: 0,
  })
  return resolver
}

describe('a name that answers otherwise at the connection', () => {
  it('does not lead inside', async () => {
    const { pins, pinned } = recorded()
    const context = gitContext({}, { resolver: answering([PUBLIC], ['127.0.0.1']), pinnedFetch: pinned })
    await expect(readReachableHead(context, `https://localhost:${port}/a/b`)).rejects.toMatchObject(unreachable(400))
    expect(pins).toEqual([['localhost', [PUBLIC]]])
    expect(connections).toBe(0)
  })

  it('would lead inside without a pinned connection, so the test above can fail', async () => {
    const context = gitContext({}, { resolver: answering([PUBLIC], ['127.0.0.1']) })
    await expect(readReachableHead(context, `https://localhost:${port}/a/b`)).rejects.toMatchObject({ status: 400 })
    expect(connections).toBe(1)
  })

  it('does not lead inside between listing and clone either', async () => {
    // The listing is mocked, so only the clone connects.
    const listed: string[] = []
    const pinned: PinnedFetch = (_, addresses) => {
      listed.push(...addresses)
      return (input, init) => globalThis.fetch(input, init)
    }
    const resolver = answering([PUBLIC], ['127.0.0.1'])
    const context = gitContext({}, { resolver, pinnedFetch: pinned })
    await expect(findRootModules(context, filled)).rejects.toThrow('Repository is not reachable')
    expect([listed, resolver.asked]).toEqual([[PUBLIC], 2])
    expect(context.lines.join()).toContain('127.0.0.1, which is not public')
  })
})

describe('a host that may be private', () => {
  it('is reached at the address that was checked', async () => {
    const { pins, pinned } = recorded()
    const resolver = answering(['127.0.0.1'])
    const context = gitContext({ allow_private_hosts: ['localhost'] }, { resolver, pinnedFetch: pinned })
    await readReachableHead(context, filled)
    expect((await findRootModules(context, filled)).roots).toEqual(['live'])
    expect(new Set(pins.map(([, addresses]) => addresses.join()))).toEqual(new Set(['127.0.0.1']))
  })

  it('is not reached at another one', async () => {
    const context = gitContext(
      { allow_private_hosts: ['localhost'] },
      { resolver: answering(['127.0.0.77']), pinnedFetch },
    )
    await expect(readReachableHead(context, filled)).rejects.toMatchObject(unreachable(400))
  })

  it('may be named by its address', async () => {
    const context = gitContext({ allow_private_hosts: ['127.0.0.1'] }, { resolver: answering([]), pinnedFetch })
    await readReachableHead(context, filled.replace('localhost', '127.0.0.1'))
  })
})

describe('a redirect', () => {
  it.each([301, 302, 303, 307, 308])('with %i to another host is not followed', async (status) => {
    answer = { status, location: filled }
    const { pins, pinned } = recorded()
    const context = gitContext(
      { allow_private_hosts: [`localhost:${port}`] },
      { resolver: answering(['127.0.0.1']), pinnedFetch: pinned },
    )
    await expect(readReachableHead(context, `https://localhost:${port}/a/b`)).rejects.toMatchObject(unreachable(400))
    expect(connections).toBe(1)
    expect(pins).toHaveLength(1)
  })
})

describe('public addresses', () => {
  it.each([
    '8.8.8.8',
    '140.82.112.3',
    '2606:4700::1',
    '::ffff:8.8.8.8',
    '64:ff9b::808:808',
    '2002:808:808::1',
  ])('%s is one', (address) => {
    expect(isPublicAddress(address)).toBe(true)
  })

  it.each([
    '127.0.0.1',
    '10.0.0.1',
    '172.16.0.1',
    '192.168.1.1',
    '169.254.169.254',
    '100.64.0.1',
    '0.0.0.0',
    '224.0.0.1',
    '192.0.2.1',
    '198.18.0.1',
    '240.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    'fe80::1',
    'fc00::1',
    'fd12::1',
    'ff02::1',
    'fec0::1',
    '2001:db8::1',
    '::ffff:127.0.0.1',
    '::ffff:a9fe:a9fe',
    '::ffff:0:10.0.0.1',
    '64:ff9b::a00:1',
    '64:ff9b:1::808:808',
    '2002:7f00:1::',
    '2001::1',
    '::808:808',
    'localhost',
    '',
    '1.2.3',
  ])('%j is none', (address) => {
    expect(isPublicAddress(address)).toBe(false)
  })
})
