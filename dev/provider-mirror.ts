import { createReadStream } from 'node:fs'
import { open, stat, writeFile } from 'node:fs/promises'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { loadCertificates } from './git-host/certificates.ts'

/** The only provider of the mirror. Its program is of random bytes, so an engine can install it and not start it. */
export const MIRRORED = { source: 'mirror.test/bench/sample', version: '1.0.0' }

export type ProviderMirror = Awaited<ReturnType<typeof startProviderMirror>>

/**
 * Starts a server of the engine's network mirror protocol, which needs TLS, for one provider of a given size.
 * @param options.platform as `linux_amd64`
 */
export async function startProviderMirror(options: { folder: string; bytes: number; platform: string }) {
  const { folder, platform } = options
  const { cert, key, ca_file } = await loadCertificates(folder)
  const archive = join(folder, 'provider.zip')
  await writeArchive(archive, `terraform-provider-sample_v${MIRRORED.version}`, options.bytes)
  const { size } = await stat(archive)
  let sent = 0
  let downloads = 0
  const documents: Record<string, object> = {
    [`/${MIRRORED.source}/index.json`]: { versions: { [MIRRORED.version]: {} } },
    [`/${MIRRORED.source}/${MIRRORED.version}.json`]: { archives: { [platform]: { url: 'provider.zip' } } },
  }
  const server = createServer({ cert, key }, (request, response) => {
    const document = documents[request.url ?? '']
    if (document) return response.setHeader('content-type', 'application/json').end(JSON.stringify(document))
    if (request.url !== `/${MIRRORED.source}/provider.zip`) return response.writeHead(404).end()
    response.writeHead(200, { 'content-type': 'application/zip', 'content-length': size })
    if (request.method === 'HEAD') return response.end()
    downloads++
    const file = createReadStream(archive)
    file.on('data', (bytes) => {
      sent += bytes.length
    })
    file.on('error', () => response.destroy())
    response.on('close', () => file.destroy())
    return file.pipe(response)
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', resolve)
  })
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}/`
  const config_file = join(folder, 'mirror.tfrc')
  await writeFile(config_file, `provider_installation {\n  network_mirror {\n    url = "${url}"\n  }\n}\n`, {
    mode: 0o644,
  })
  return {
    url,
    /** Certificate of the authority, for `SSL_CERT_FILE`. */
    ca_file,
    /** CLI configuration of an engine that takes all providers from here. */
    config_file,
    /** Size of the archive in bytes. */
    size,
    /** Bytes of archives that were sent, and how often one was asked for, since the last call. */
    take: () => {
      const taken = { sent, downloads }
      sent = 0
      downloads = 0
      return taken
    },
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

const PIECE = 1024 * 1024

/** Writes a zip archive with one executable file of random bytes, which it stores as they are. */
async function writeArchive(path: string, name: string, bytes: number): Promise<void> {
  const file = await open(path, 'w')
  try {
    const random = Buffer.from(crypto.getRandomValues(new Uint8Array(65_536)))
    const piece = Buffer.concat(Array.from({ length: PIECE / random.length }, () => random))
    let checksum = 0
    const head = 30 + name.length
    for (let at = 0; at < bytes; at += PIECE) {
      piece.writeUInt32LE(at / PIECE, 0)
      const part = piece.subarray(0, Math.min(PIECE, bytes - at))
      checksum = crc32(part, checksum)
      await file.write(part, 0, part.length, head + at)
    }
    const common = Buffer.alloc(26)
    common.writeUInt16LE(20, 0)
    common.writeUInt32LE(checksum, 10)
    common.writeUInt32LE(bytes, 14)
    common.writeUInt32LE(bytes, 18)
    common.writeUInt16LE(name.length, 22)
    const local = Buffer.concat([Buffer.from('PK\x03\x04'), common, Buffer.from(name)])
    const entry = Buffer.concat([Buffer.from('PK\x01\x02\x14\x03'), common, Buffer.alloc(14), Buffer.from(name)])
    // A regular file of UNIX with the mode 0755.
    entry.writeUInt32LE(0o100755 * 65_536, 38)
    const end = Buffer.alloc(22)
    end.write('PK\x05\x06', 'latin1')
    end.writeUInt16LE(1, 8)
    end.writeUInt16LE(1, 10)
    end.writeUInt32LE(entry.length, 12)
    end.writeUInt32LE(head + bytes, 16)
    await file.write(local, 0, local.length, 0)
    await file.write(Buffer.concat([entry, end]), 0, entry.length + end.length, head + bytes)
  } finally {
    await file.close()
  }
}
