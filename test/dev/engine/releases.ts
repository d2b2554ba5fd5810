import { createServer, type ServerResponse } from 'node:http'
import { createMessage, generateKey, readPrivateKey, sign } from 'openpgp'
import { OPENTOFU } from '../../../dev/engine/release.ts'
import { listen } from '../../../dev/server.ts'
import { sum, zip } from '../../sidecars/iac/engine/release.ts'

/** A key that signs lists, and its public part in its text form. */
export interface SigningKey {
  publicKey: string
  sign(list: Buffer): Promise<Buffer>
}

export async function createKey(): Promise<SigningKey> {
  const { privateKey, publicKey } = await generateKey({ userIDs: [{ name: 'releases of a test' }], format: 'armored' })
  return {
    publicKey,
    sign: async (list) => {
      const signed = await sign({
        message: await createMessage({ binary: new Uint8Array(list) }),
        signingKeys: await readPrivateKey({ armoredKey: privateKey }),
        detached: true,
        format: 'binary',
      })
      return Buffer.from(signed as Uint8Array)
    },
  }
}

export const LIST = `tofu_${OPENTOFU}_SHA256SUMS`
export const nameOf = (target: string) => `tofu_${OPENTOFU}_${target}.zip`
const TARGETS = {
  linux_amd64: 'tofu',
  linux_arm64: 'tofu',
  darwin_amd64: 'tofu',
  darwin_arm64: 'tofu',
  windows_amd64: 'tofu.exe',
}

/** Returns the program of a target, a script that prints the target. */
export const programOf = (target: string) => `#!/bin/sh\necho "OpenTofu v${OPENTOFU}"\necho "for ${target}"\n`

/** A release server in the layout of the project. */
export interface ReleaseServer {
  url: string
  /** By name. A test may change them. */
  files: Record<string, Buffer>
  /** Requested names, in order. */
  asked: string[]
  /** Senders of files by name. By default a file is sent as it is. */
  ways: Record<string, (response: ServerResponse, file: Buffer) => void>
  close(): Promise<void>
}

/** Serves the pinned version, signed with the key, until it is closed. */
export async function startReleaseServer(key: SigningKey): Promise<ReleaseServer> {
  const files: Record<string, Buffer> = {}
  for (const [target, program] of Object.entries(TARGETS))
    files[nameOf(target)] = zip({ LICENSE: 'text', [program]: programOf(target) })
  const lines = Object.entries(files).map(([name, file]) => `${sum(file)}  ${name}\n`)
  const list = Buffer.from(`${'0'.repeat(64)}  tofu_${OPENTOFU}_amd64.deb\n${lines.join('')}`)
  files[LIST] = list
  files[`${LIST}.gpgsig`] = await key.sign(list)
  const asked: string[] = []
  const ways: ReleaseServer['ways'] = {}
  const server = createServer((request, response) => {
    const name = (request.url ?? '').replace(`/v${OPENTOFU}/`, '')
    asked.push(name)
    const file = files[name]
    if (!file) response.writeHead(404).end()
    else if (ways[name]) ways[name](response, file)
    else response.writeHead(200, { 'content-length': file.length }).end(file)
  })
  const { url, close } = await listen(server)
  return { url: `${url}/`, files, asked, ways, close }
}
