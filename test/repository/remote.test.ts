import { execFile } from 'node:child_process'
import { createServer } from 'node:http'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, it } from 'vitest'
import { listen } from '../../dev/server.ts'
import type { Fetch } from '../../src/base/http.ts'
import { resolveAllowedAddresses } from '../../src/repository/allowed-addresses.ts'
import { compareWithDefaultBranch, readReachableHead } from '../../src/repository/head.ts'
import type { GitContext } from '../../src/repository/remote.ts'
import { findRootModules } from '../../src/repository/root-modules.ts'
import { startTrustedHost } from '../helpers/git-host-core.ts'
import { startOnce } from '../helpers/start-once.ts'
import { LARGE_REPOSITORY } from './pack/hostile-packs.ts'
import { remoteOf } from './pack/remote-of.ts'
import { gitConfig, gitContext, unreachable } from './support.ts'

const host = startOnce(startTrustedHost)
let filled: string

beforeAll(async () => {
  filled = await host.addRepository({
    owner: 'acme',
    name: 'infra',
    content: {
      files: { 'main.tf': 'x', 'live/prod/main.tf': 'x', 'modules/net/main.tf': 'x', 'docs/a.md': 'x'.repeat(300_000) },
    },
  })
})

/** Makes the context of an operator with this host as self-hosted server. */
const own = (changes: { fetch?: Fetch } = {}) => gitContext({ base_url: host.url, host: host.host }, changes)

/** Forwards every request and records it. */
function recording(answer?: (url: string, init?: RequestInit) => Response | undefined) {
  const requests: { url: string; authorization: string | null; body: BodyInit | null | undefined }[] = []
  const fetch: Fetch = async (input, init) => {
    requests.push({
      url: String(input),
      authorization: new Headers(init?.headers).get('authorization'),
      body: init?.body,
    })
    return answer?.(String(input), init) ?? globalThis.fetch(input, init)
  }
  return { fetch, requests }
}

describe('reachability', () => {
  it('accepts a repository of the configured host', async () => {
    await expect(readReachableHead(own(), filled)).resolves.toBeTruthy()
  })

  it('says that a repository or its default branch has no commit', async () => {
    const empty = await host.addRepository({ owner: 'acme', name: 'empty' })
    const text = 'The repository is empty: push a first commit to its default branch, then ask again.'
    await expect(readReachableHead(own(), empty)).rejects.toMatchObject({ status: 400, message: text })
    await expect(findRootModules(own(), empty)).rejects.toMatchObject({ status: 400, message: text })
    const moved = await host.addRepository({ owner: 'acme', name: 'moved', content: { files: { 'main.tf': '' } } })
    await promisify(execFile)('git', ['--git-dir', host.pathOf(moved), 'symbolic-ref', 'HEAD', 'refs/heads/unborn'])
    await expect(readReachableHead(own(), moved)).rejects.toMatchObject({
      status: 400,
      message:
        'The default branch of the repository has no commit: choose one that has, or push to it, then ask again.',
    })
  })

  it('answers every other fault with one text and keeps the reason for the log', async () => {
    for (const uri of [`${host.url}/acme/missing.git`, `${host.url}/`, 'https://127.0.0.1:1/x/y']) {
      const context = gitContext({ base_url: host.url, host: host.host, allow_private_hosts: ['127.0.0.1:1'] })
      await expect(readReachableHead(context, uri)).rejects.toMatchObject(unreachable(400))
      expect(context.lines).toHaveLength(1)
    }
  })

  it('never logs a user name, which may be a token', async () => {
    const context = own()
    await expect(readReachableHead(context, `https://ghp_secret@${host.host}/acme/missing.git`)).rejects.toMatchObject({
      status: 400,
    })
    expect(context.lines.join()).not.toContain('ghp_secret')
  })

  it('answers a challenge of the configured host with the credentials, of another host never', async () => {
    const uri = await host.addRepository({
      owner: 'acme',
      name: 'closed',
      private: true,
      content: { files: { 'main.tf': 'x' } },
    })
    await expect(readReachableHead(own(), uri)).resolves.toBeTruthy()
    const spy = recording()
    const other = gitContext({ allow_private_hosts: [host.host] }, { fetch: spy.fetch })
    await expect(readReachableHead(other, uri)).rejects.toMatchObject({ status: 400 })
    expect(spy.requests.map(({ authorization }) => authorization)).toEqual([null])
    const half = gitContext({ base_url: host.url, host: host.host, token: '' })
    await expect(readReachableHead(half, uri)).rejects.toMatchObject({ status: 400 })
  })

  it('follows no redirect', async () => {
    const spy = recording(() => new Response(null, { status: 301, headers: { location: filled } }))
    await expect(readReachableHead(own({ fetch: spy.fetch }), filled)).rejects.toMatchObject({ status: 400 })
    expect(spy.requests).toHaveLength(1)
  })

  it('asks below .git at GitLab, which redirects otherwise', async () => {
    const spy = recording(() => new Response('no', { status: 404 }))
    const context = gitContext({}, { fetch: spy.fetch, resolver: async () => ['8.8.8.8'] })
    await expect(readReachableHead(context, 'https://gitlab.com/acme/infra/')).rejects.toMatchObject({ status: 400 })
    expect(spy.requests[0]?.url).toMatch(/^https:\/\/gitlab\.com\/acme\/infra\.git\/info\/refs/)
  })

  it('does not contact a host whose address is not public', async () => {
    const spy = recording()
    for (const addresses of [['127.0.0.1'], ['8.8.8.8', '169.254.169.254'], []]) {
      const context = gitContext({}, { fetch: spy.fetch, resolver: async () => addresses })
      await expect(readReachableHead(context, 'https://example.com/a/b')).rejects.toMatchObject(unreachable(400))
    }
    const literal = gitContext({}, { fetch: spy.fetch })
    for (const name of ['127.0.0.1', '[::1]', '2130706433', '0x7f.1', '[::ffff:127.0.0.1]'])
      await expect(readReachableHead(literal, `https://${name}/a/b`)).rejects.toMatchObject({ status: 400 })
    expect(spy.requests).toEqual([])
  })

  it('survives an answer that is no git', async () => {
    const server = createServer((_, response) => response.end('<html>hello</html>'))
    const { url, close } = await listen(server)
    const fetch: Fetch = (_, init) => globalThis.fetch(url, init)
    await expect(readReachableHead(own({ fetch }), filled)).rejects.toMatchObject(unreachable(400))
    await close()
  })

  it('stops when the caller goes away', async () => {
    const gone = AbortSignal.abort()
    await expect(readReachableHead(own(), filled, gone)).rejects.toMatchObject({ status: 400 })
  })
})

describe('addresses that may be contacted', () => {
  const url = (text: string) => new URL(text)
  const local = async () => ['10.0.0.7']

  it('are private ones only for listed hosts and the self-hosted server', async () => {
    await expect(resolveAllowedAddresses(gitConfig(), local, url('https://git.corp/x'))).rejects.toThrow('not public')
    const listed = gitConfig({ allow_private_hosts: ['git.corp'] })
    expect(await resolveAllowedAddresses(listed, local, url('https://git.corp:8443/x'))).toEqual(['10.0.0.7'])
    const with_port = gitConfig({ allow_private_hosts: ['git.corp:8443'] })
    expect(await resolveAllowedAddresses(with_port, local, url('https://git.corp:8443/x'))).toEqual(['10.0.0.7'])
    await expect(resolveAllowedAddresses(with_port, local, url('https://git.corp/x'))).rejects.toThrow('not public')
    const own_server = gitConfig({ base_url: 'https://git.corp', host: 'git.corp' })
    expect(await resolveAllowedAddresses(own_server, local, url('https://git.corp/x'))).toEqual(['10.0.0.7'])
    await expect(resolveAllowedAddresses(gitConfig(), local, url('https://github.com/x'))).rejects.toThrow('not public')
  })

  it('are given up when the caller goes away', async () => {
    const never = () => new Promise<string[]>(() => {})
    const controller = new AbortController()
    const pending = resolveAllowedAddresses(gitConfig(), never, url('https://git.corp/x'), controller.signal)
    controller.abort()
    await expect(pending).rejects.toThrow('in time')
  })
})

describe('default branch', () => {
  it('is the one HEAD names, slashes kept', async () => {
    expect(await compareWithDefaultBranch(own(), filled, 'main')).toEqual({
      base: 'main',
      exists: true,
      differs: false,
    })
  })

  it('is a 502 when the remote cannot be listed and a 500 when it names none', async () => {
    await expect(compareWithDefaultBranch(own(), `${host.url}/acme/missing.git`, 'b')).rejects.toMatchObject(
      unreachable(502),
    )
    const empty = await host.addRepository({ owner: 'acme', name: 'unborn' })
    await expect(compareWithDefaultBranch(own(), empty, 'b')).rejects.toMatchObject({
      status: 500,
      message: 'No match git default branch ls-remote',
    })
  })
})

describe('repository parse', () => {
  const rootsOf = async (context: GitContext, uri: string) => (await findRootModules(context, uri)).roots

  /** Forwards every request to a server that lacks some of its abilities. */
  const limited = ({ version2 = true, filter = true, wants = true }): { fetch: Fetch; received: number[] } => {
    const received: number[] = []
    const fetch: Fetch = async (input, init) => {
      const headers = new Headers(init?.headers)
      if (!version2) headers.delete('git-protocol')
      if (!wants && isObjectRequest(init?.body)) return new Response('no', { status: 500 })
      const response = await globalThis.fetch(input, { ...init, headers })
      const text = Buffer.from(await response.arrayBuffer()).toString('latin1')
      if (isPack(init?.body)) received.push(text.length)
      return new Response(Buffer.from(filter ? text : text.replaceAll(' filter', ' fiLter'), 'latin1'), response)
    }
    return { fetch, received }
  }

  it('finds the root modules without fetching contents of other files', async () => {
    const { fetch, received } = limited({})
    expect(await rootsOf(own({ fetch }), filled)).toEqual(['.', 'live/prod'])
    expect(received).toHaveLength(2)
    expect(Math.max(...received)).toBeLessThan(5_000)
  })

  it('works with a server that cannot leave out contents', async () => {
    const { fetch } = limited({ filter: false })
    expect(await rootsOf(own({ fetch }), filled)).toEqual(['.', 'live/prod'])
  })

  it('works with a server that speaks version 1 alone, with contents and without', async () => {
    for (const filter of [true, false]) {
      const { fetch } = limited({ version2: false, filter })
      expect(await rootsOf(own({ fetch }), filled)).toEqual(['.', 'live/prod'])
      expect((await compareWithDefaultBranch(own({ fetch }), filled, 'none')).base).toBe('main')
      const empty = await host.addRepository({ owner: 'acme', name: `empty-${filter}` })
      await expect(readReachableHead(own({ fetch }), empty)).rejects.toMatchObject({ status: 400 })
    }
  })

  it('reads a repository that asks for credentials', async () => {
    const uri = await host.addRepository({
      owner: 'acme',
      name: 'closed-too',
      private: true,
      content: { files: { 'live/main.tf': 'terraform {\n  backend "s3" {}\n}' } },
    })
    expect(await findRootModules(own(), uri)).toMatchObject({
      roots: ['live'],
      rootModules: [{ path: 'live', kind: 'root' }],
    })
  })

  it('reads a repository of 50000 files', async () => {
    const context = gitContext({ allow_private_hosts: ['127.0.0.1'] }, { fetch: remoteOf(LARGE_REPOSITORY.build()) })
    const roots = await rootsOf(context, 'https://127.0.0.1/acme/infra')
    expect([roots.length, roots[0], roots.at(-1)]).toEqual([5_000, 'project-0000', 'project-4999'])
  })

  describe('by contents', () => {
    const backend = 'terraform {\n  backend "s3" {}\n}\n'
    const noise = Array.from({ length: 30_000 }, (_, index) => `# ${index * 7_919}`).join('\n')
    let uri: string
    beforeAll(async () => {
      uri = await host.addRepository({
        owner: 'acme',
        name: 'terraform-aws-net',
        content: {
          files: {
            'live/b/zones.tf': backend,
            'live/a/zones.tf': `${backend}module "net" {\n  source = "../../net"\n}\n`,
            'live/c/zones.tf': `${backend}${'# x\n'.repeat(500)}`,
            'live/d/zones.tf': `${backend}${'# x\n'.repeat(500)}# y\n`,
            'net/main.tf': 'provider "aws" {}\nresource "aws_vpc" "v" {}\n',
            'examples/z/x.tf': 'module "net" {\n  source = "acme/net/aws//net"\n}\n',
            'test/x/x.tf': 'resource "aws_vpc" "v" {}\n',
            'empty/x.tf': '',
            'charts/x/Chart.yaml': 'name: x',
            'live/e/terragrunt.hcl': '',
            'docs/long.md': noise,
          },
        },
      })
    })
    const expected = {
      roots: ['live/a', 'live/b', 'live/c', 'live/d', 'net', 'empty', 'test/x'].sort(),
      rootModules: [
        ...['live/a', 'live/b', 'live/c', 'live/d'].map((path) => ({ path, kind: 'root' })),
        { path: 'examples/z', kind: 'example' },
        { path: 'test/x', kind: 'test' },
      ],
      unreadFiles: 0,
      providers: [{ source: 'hashicorp/aws', cloud: 'aws' }],
      tools: ['terragrunt', 'helm'],
    }

    it('are fetched by their hashes', async () => {
      const { fetch, received } = limited({})
      expect(await findRootModules(own({ fetch }), uri)).toEqual(expected)
      expect(received).toHaveLength(2)
      expect(Math.max(...received)).toBeLessThan(10_000)
    })

    it.each([
      ['that cannot leave out contents', { filter: false }, 1],
      ['of version 1', { version2: false }, 3],
      ['of version 1 that cannot leave out contents', { version2: false, filter: false }, 1],
      ['that sends no single files', { wants: false }, 2],
    ])('are fetched with the commit from a server %s', async (_, abilities, fetches) => {
      const { fetch, received } = limited(abilities)
      expect(await findRootModules(own({ fetch }), uri)).toEqual(expected)
      expect(received).toHaveLength(fetches)
    })

    it('are left out when the server sends them neither way', async () => {
      let packs = 0
      const fetch: Fetch = async (input, init) =>
        isPack(init?.body) && ++packs > 1 ? new Response('x', { status: 500 }) : globalThis.fetch(input, init)
      const context = own({ fetch })
      expect(await findRootModules(context, uri)).toEqual({ ...expected, rootModules: null, providers: null })
      expect(context.lines.join()).toContain('files of the repository could not be read')
    })

    it('count files that are too large', async () => {
      const large = await host.addRepository({
        owner: 'acme',
        name: 'large',
        content: { files: { 'a/x.tf': backend, 'b/x.tf': backend + noise } },
      })
      for (const abilities of [{}, { wants: false }, { filter: false }])
        expect(await findRootModules(own(limited(abilities)), large)).toMatchObject({
          roots: ['a', 'b'],
          rootModules: [{ path: 'a', kind: 'root' }],
          unreadFiles: 1,
        })
    })
  })

  it('is 400 when the remote cannot be listed', async () => {
    await expect(findRootModules(own(), `${host.url}/acme/missing.git`)).rejects.toMatchObject(unreachable(400))
  })

  it.each([
    [403, 400],
    [500, 502],
    [301, 502],
  ])('a clone that is answered with %i after a good listing is %i', async (answer, status) => {
    const failing = recording((url) =>
      url.endsWith('/git-upload-pack') && packs(failing.requests) ? new Response('x', { status: answer }) : undefined,
    )
    await expect(findRootModules(own({ fetch: failing.fetch }), filled)).rejects.toMatchObject(unreachable(status))
  })

  it('is 502 when the pack is damaged or cut', async () => {
    for (const damage of [
      (bytes: Uint8Array) => bytes.slice(0, bytes.length / 2),
      (bytes: Uint8Array) => bytes.map((byte, index) => (index > 60 ? byte ^ 0x55 : byte)),
    ]) {
      const fetch: Fetch = async (input, init) => {
        const response = await globalThis.fetch(input, init)
        if (!isPack(init?.body)) return response
        return new Response(damage(new Uint8Array(await response.arrayBuffer())), response)
      }
      await expect(findRootModules(own({ fetch }), filled)).rejects.toMatchObject(unreachable(502))
    }
  })

  it('is 502 when the answer is larger than the cap', async () => {
    const chunk = new Uint8Array(8 * 1024 * 1024)
    const endless = () => new ReadableStream({ pull: (controller) => controller.enqueue(chunk) })
    const fetch: Fetch = async (input, init) =>
      isPack(init?.body) ? new Response(endless()) : globalThis.fetch(input, init)
    await expect(findRootModules(own({ fetch }), filled)).rejects.toMatchObject(unreachable(502))
  })
})

const isPack = (body: BodyInit | null | undefined): boolean =>
  body instanceof Uint8Array && new TextDecoder().decode(body).includes('want ')
const isObjectRequest = (body: BodyInit | null | undefined): boolean =>
  body instanceof Uint8Array && new TextDecoder().decode(body).includes('command=fetch')
const packs = (requests: { body: BodyInit | null | undefined }[]): boolean => isPack(requests.at(-1)?.body)
