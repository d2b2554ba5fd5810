import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { loadCertificates } from '../../../dev/git-host/certificates.ts'
import type { Runtime } from './install.ts'

const run = promisify(execFile)
const ROOT = join(import.meta.dirname, '../../..')

/** Checks that connections of the core's git requests go to the checked addresses only, on this runtime too. */
export async function connectionsArePinned(runtime: Runtime): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'platform-pinned-'))
  const { caPem, cert, key } = await loadCertificates(folder)
  const server = createServer({ cert, key }, (_, response) => response.end('reached'))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  try {
    await run(runtime.command, [...runtime.args, join(import.meta.dirname, 'pinned.ts'), String(port), caPem], {
      cwd: ROOT,
      timeout: 60_000,
    })
  } finally {
    server.closeAllConnections()
    server.close()
    await rm(folder, { recursive: true, force: true })
  }
}
