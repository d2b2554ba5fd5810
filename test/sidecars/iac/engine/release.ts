import { createHash } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { deflateRawSync } from 'node:zlib'
import { downloadEngine } from '../../../../sidecars/iac/engine/download.ts'
import { type Logger, silentLogger } from '../../../../src/base/log.ts'

/** Makes a zip archive with deflated entries. Checksums of the content are zero, because its readers ignore them. */
export function zip(files: Record<string, string>): Buffer {
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

export const ARCHIVE = zip({ LICENSE: 'text', tofu: '#!/bin/sh\necho "OpenTofu v0.0.1$PLATFORM_IAC_TOKEN"\n' })
export const sum = (content: Buffer) => createHash('sha256').update(content).digest('hex')
export const NAME = 'tofu_0.0.1_linux_amd64.zip'

export interface Releases {
  /** By name. A test may change them. */
  files: Record<string, Buffer>
  /** Requested paths. */
  asked: string[]
  /** Makes sure that the folder holds the engine of this release. */
  download(folder: string, options?: { target?: string; log?: Logger }): Promise<string>
  close(): void
}

/** Serves a release of an engine that is a shell script, as a mirror does. */
export async function startReleases(): Promise<Releases> {
  const asked: string[] = []
  const files: Record<string, Buffer> = {
    [NAME]: ARCHIVE,
    'tofu_0.0.1_SHA256SUMS': Buffer.from(`${'0'.repeat(64)}  other.zip\n${sum(ARCHIVE)}  ${NAME}\n`),
  }
  const server = createServer((request, response) => {
    asked.push(request.url ?? '')
    const file = files[(request.url ?? '').replace('/v0.0.1/', '')]
    response.writeHead(file ? 200 : 404).end(file)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  return {
    files,
    asked,
    download: (folder, { target = 'linux_amd64', log = silentLogger } = {}) =>
      downloadEngine({
        folder,
        baseUrl,
        target,
        fetch,
        log,
        release: { version: '0.0.1', checksums: { linux_amd64: sum(ARCHIVE) } },
      }),
    close: () => server.close(),
  }
}
