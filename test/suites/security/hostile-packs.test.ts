import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect } from 'vitest'
import type { Fetch } from '../../../src/base/http.ts'
import { createGitHttp } from '../../../src/repository/git-http.ts'
import { answerOf, createTestCore, refusalOf } from '../../helpers/core.ts'
import { startOnce } from '../../helpers/start-once.ts'
import { buildPack, commitOf, hashOf, treeOf } from '../../repository/pack/build-pack.ts'
import { HOSTILE_PACKS, LARGE_REPOSITORY } from '../../repository/pack/hostile-packs.ts'
import { remoteOf } from '../../repository/pack/remote-of.ts'
import { attack } from './attack.ts'

const GROUP = 'repository parse of a hostile server'
const UNREACHABLE = 'Repository is not reachable or access was denied.'
const YAML = 'git: { allow_private_hosts: ["127.0.0.1"] }'
let serve: Fetch
const core = startOnce(() => createTestCore({ yaml: YAML, context: { fetch: (input, init) => serve(input, init) } }))
const parse = () =>
  core.call('POST', '/api/v1/repository/parse', { json: { repo_uri: 'https://127.0.0.1/acme/infra' } })

/** Returns the logged reason of the last refused repository. Callers see a fixed text only. */
const reason = () => {
  const line = core.log.findLast(({ message }) =>
    /^repository (could not be scanned|is not reachable)$/.test(String(message)),
  )
  return String((line?.reason as { message?: string } | undefined)?.message)
}

for (const { name, build, isRead } of HOSTILE_PACKS)
  attack(GROUP, name, async () => {
    const built = build()
    serve = remoteOf(built)
    const before = process.memoryUsage.rss()
    const answer = await parse()
    const grown = (process.memoryUsage.rss() - before) / 1e6
    expect(answer.status).toBe(isRead ? 200 : 502)
    if (!isRead) expect(await answer.json()).toEqual({ detail: UNREACHABLE })
    // The attack took 2.2 GB without limits; the limits allow less than a tenth of it beside the pack itself.
    expect(grown).toBeLessThan(400)
    return isRead ? 'harmless: sizes are skipped or counted, and the roots are found' : reason()
  })

for (const [title, prefix, options, stoppedBy] of [
  [
    'packets of one byte each',
    '290000',
    { packetBytes: 1 },
    'packets are joined in the bytes of the answer, in slices',
  ],
  ['half a million references', '', { references: 500_000 }, 'HEAD stands in the first line, and no other is read'],
] as const)
  attack(GROUP, title, async () => {
    const pack = HOSTILE_PACKS.find(({ name, isRead }) => isRead && name.startsWith(prefix))
    if (!pack) throw new Error('there is no such pack')
    serve = remoteOf(pack.build(), options)
    expect((await parse()).status).toBe(200)
    return stoppedBy
  })

attack(GROUP, 'a list of references without an end', async () => {
  const chunk = Buffer.alloc(1024 * 1024, `003f${'a'.repeat(40)} refs/heads/xxxxxxx\n`)
  serve = async () =>
    new Response(new ReadableStream({ pull: (controller) => controller.enqueue(new Uint8Array(chunk)) }))
  expect(await refusalOf(parse())).toEqual([400, UNREACHABLE])
  return reason()
})

attack(GROUP, 'a capability that a pattern of the library reads in the square of its length', async () => {
  serve = remoteOf(LARGE_REPOSITORY.build(), { capability: 'symref='.repeat(9_000) })
  expect(await refusalOf(parse())).toEqual([400, UNREACHABLE])
  expect(reason()).toContain('too long')
  return reason()
})

attack(GROUP, 'half a million shallow commits before the pack', async () => {
  serve = remoteOf(LARGE_REPOSITORY.build(), { before: Array(500_000).fill(`shallow ${'a'.repeat(40)}`) })
  expect(await refusalOf(parse())).toEqual([502, UNREACHABLE])
  return reason()
})

attack(GROUP, 'names of files that a pattern of the library reads in the square of their length', async () => {
  const name = `${'.'.repeat(1_000_000)}x`
  const root = treeOf([
    [name, '11'.repeat(20)],
    ['main.tf', '11'.repeat(20)],
  ])
  const commit = commitOf(hashOf('tree', root))
  const pack = buildPack([
    { type: 'commit', contents: commit },
    { type: 'tree', contents: root },
  ])
  serve = remoteOf({ head: hashOf('commit', commit), pack })
  expect(await answerOf(parse())).toMatchObject([200, { roots: ['.'] }])
  return 'trees are read here; only the ends of names are compared'
})

attack(GROUP, 'a server that refuses in the middle of its answer', async () => {
  serve = remoteOf(LARGE_REPOSITORY.build(), { before: ['NAK', 'ERR no'] })
  expect((await parse()).status).toBe(502)
  return reason()
})

attack(GROUP, 'an answer that never ends, byte by byte', async () => {
  const server = createServer((_, response) => {
    const timer = setInterval(() => response.write('0'), 20)
    response.on('close', () => clearInterval(timer))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const slow: Fetch = (_, init) => fetch(`http://127.0.0.1:${port}`, init)
  try {
    const { request } = createGitHttp(slow, { timeoutMs: 500, maxBytes: 1024 })
    for (const method of ['GET', 'POST'])
      await expect(request({ url: 'https://127.0.0.1/x', method })).rejects.toMatchObject({ kind: 'timeout' })
  } finally {
    server.closeAllConnections()
    server.close()
  }
  return 'the time limit of a request holds until the end of its answer, not only for its beginning'
})

attack(GROUP, 'many at once that do not answer', async () => {
  const release: (() => void)[] = []
  serve = () => new Promise((resolve) => release.push(() => resolve(new Response('no', { status: 404 }))))
  const refused: Response[] = []
  const all = Array.from({ length: 20 }, async () => {
    const answer = await parse()
    if (answer.status === 503) refused.push(answer)
    return answer
  })
  await expect.poll(() => refused.length).toBe(10)
  const [one = new Response()] = refused
  expect(one.headers.get('retry-after')).toBe('10')
  const { detail } = (await one.json()) as { detail: string }
  expect(detail).toMatch(/^Too many repositories are being read/)
  await expect.poll(() => release.length).toBe(2)
  const freeing = setInterval(() => {
    for (const free of release.splice(0)) free()
  }, 10)
  const statuses = (await Promise.all(all)).map(({ status }) => status)
  clearInterval(freeing)
  expect(statuses.filter((status) => status === 503)).toHaveLength(10)
  expect(statuses.filter((status) => status === 400)).toHaveLength(10)
  return `two run, eight wait, the others: 503 ${detail}`
})
