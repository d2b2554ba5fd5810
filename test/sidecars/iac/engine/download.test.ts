import { createHash } from 'node:crypto'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { deflateRawSync } from 'node:zlib'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { downloadEngine, PINNED_OPENTOFU } from '../../../../sidecars/iac/engine/download.ts'
import { findEngine, probeEngine } from '../../../../sidecars/iac/engine/find.ts'
import { unzip } from '../../../../sidecars/iac/zip.ts'
import { silentLogger } from '../../../../src/base/log.ts'
import { fakeEngine, temporaryFolder } from '../service.ts'

/** A zip archive with deflated entries; checksums of the content are left zero, which readers of it ignore. */
function zip(files: Record<string, string>): Buffer {
  const parts: Buffer[] = []
  const directory: Buffer[] = []
  let offset = 0
  for (const [name, content] of Object.entries(files)) {
    const data = deflateRawSync(content)
    const local = Buffer.alloc(30)
    local.writeUInt32LE(0x04034b50, 0)
    local.writeUInt16LE(8, 8)
    local.writeUInt16LE(name.length, 26)
    const central = Buffer.alloc(46)
    central.writeUInt32LE(0x02014b50, 0)
    central.writeUInt16LE(8, 10)
    central.writeUInt32LE(data.length, 20)
    central.writeUInt16LE(name.length, 28)
    central.writeUInt32LE(offset, 42)
    parts.push(local, Buffer.from(name), data)
    directory.push(central, Buffer.from(name))
    offset += 30 + name.length + data.length
  }
  const end = Buffer.alloc(22)
  end.writeUInt32LE(0x06054b50, 0)
  end.writeUInt16LE(Object.keys(files).length, 10)
  end.writeUInt32LE(offset, 16)
  return Buffer.concat([...parts, ...directory, end])
}

const ARCHIVE = zip({ LICENSE: 'text', tofu: '#!/bin/sh\necho "OpenTofu v0.0.1$PLATFORM_IAC_TOKEN"\n' })
const sum = (content: Buffer) => createHash('sha256').update(content).digest('hex')
const NAME = 'tofu_0.0.1_linux_amd64.zip'

let server: Server
let baseUrl: string
let files: Record<string, Buffer>
let asked: string[]

beforeAll(async () => {
  server = createServer((request, response) => {
    asked.push(request.url ?? '')
    const file = files[(request.url ?? '').replace('/v0.0.1/', '')]
    response.writeHead(file ? 200 : 404).end(file)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
})
afterAll(() => server.close())
beforeEach(() => {
  asked = []
  files = {
    [NAME]: ARCHIVE,
    'tofu_0.0.1_SHA256SUMS': Buffer.from(`${'0'.repeat(64)}  other.zip\n${sum(ARCHIVE)}  ${NAME}\n`),
  }
})

const download = async (folder?: string, target = 'linux_amd64') =>
  downloadEngine({
    folder: folder ?? (await temporaryFolder()),
    baseUrl,
    target,
    fetch,
    log: silentLogger,
    release: { version: '0.0.1', checksums: { linux_amd64: sum(ARCHIVE) } },
  })

describe('the download of an engine', () => {
  it('yields a program that runs, and fetches it once', async () => {
    const folder = await temporaryFolder()
    const binary = await download(folder)
    expect(await probeEngine(binary, { ...process.env, PLATFORM_IAC_TOKEN: 'not-for-engines' }, silentLogger)).toEqual({
      binary,
      name: 'OpenTofu',
      version: '0.0.1',
    })
    expect(asked).toHaveLength(2)
    expect(await download(folder)).toBe(binary)
    expect(asked).toHaveLength(2)
  })

  it('refuses an archive with another checksum', async () => {
    files[NAME] = zip({ tofu: 'evil' })
    await expect(download()).rejects.toThrow(/has checksum [0-9a-f]{64} instead of/)
  })

  it('refuses a release whose own list says otherwise', async () => {
    files['tofu_0.0.1_SHA256SUMS'] = Buffer.from(`${'0'.repeat(64)}  ${NAME}\n`)
    await expect(download()).rejects.toThrow('SHA256SUMS does not list')
    expect(asked).toHaveLength(1)
  })

  it('says what is missing', async () => {
    delete files[NAME]
    await expect(download()).rejects.toThrow('answered 404')
    await expect(download(undefined, 'plan9_mips')).rejects.toThrow('No OpenTofu release is pinned for plan9_mips')
  })

  it('is pinned with whole checksums', () => {
    for (const checksum of Object.values(PINNED_OPENTOFU.checksums)) expect(checksum).toMatch(/^[0-9a-f]{64}$/)
  })
})

describe('the choice of an engine', () => {
  it('takes an installed one before a download', async () => {
    const folder = await temporaryFolder()
    const engine = await fakeEngine(folder)
    const never = () => Promise.reject(new Error('not asked'))
    expect(await findEngine({ binary: 'engine', path: `/none:${folder}`, download: never })).toBe(engine)
    expect(await findEngine({ binary: engine, path: '', download: never })).toBe(engine)
    expect(await findEngine({ binary: '', path: folder, download: () => Promise.resolve('/fetched') })).toBe('/fetched')
    await expect(findEngine({ binary: 'other', path: folder, download: never })).rejects.toThrow("IAC_BINARY 'other'")
  })
})

describe('archives', () => {
  it('yield wanted files only', () => {
    const files = unzip(ARCHIVE, (name) => name === 'tofu', 1000)
    expect([...(files ?? [])].map(([name]) => name)).toEqual(['tofu'])
  })

  it.each([
    ['nothing', Buffer.alloc(0)],
    ['text', Buffer.from('no archive')],
    ['a cut archive', ARCHIVE.subarray(20)],
    ['a bomb', zip({ tofu: 'x'.repeat(1001) })],
  ])('%s is none', (_name, bytes) => {
    expect(unzip(bytes, () => true, 1000)).toBeNull()
  })
})
