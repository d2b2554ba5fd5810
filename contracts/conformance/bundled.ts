import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import type { ContractName } from './document.ts'

interface Running {
  url: string
  /** Process id of a sidecar. */
  pid?: number | undefined
  close(): Promise<void>
}

const ENTRY = fileURLToPath(new URL('../../sidecars/main.ts', import.meta.url))

/** Starts a bundled sidecar on a free port. Errors: it did not start; the text is its output. */
export async function startBundled(
  name: ContractName,
  env: Record<string, string>,
  runtime: { command: string; args: readonly string[] } = { command: process.execPath, args: [] },
): Promise<Running> {
  const child = spawn(runtime.command, [...runtime.args, ENTRY, name], {
    env: { ...process.env, PLATFORM_HOST: '127.0.0.1', PLATFORM_PORT: '0', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const exit = once(child, 'exit')
  const url = await new Promise<string>((resolve, reject) => {
    let output = ''
    const fail = () => reject(new Error(`the ${name} sidecar did not start:\n${output}`))
    const timer = setTimeout(fail, 30_000)
    child.once('exit', fail)
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (bytes: Buffer) => {
        output = `${output}${bytes.toString()}`.slice(-20_000)
        const found = /service ready.*?(http:\/\/127\.0\.0\.1:\d+)/.exec(output)?.[1]
        if (found === undefined) return
        clearTimeout(timer)
        child.off('exit', fail)
        resolve(found)
      })
  }).catch((error) => {
    child.kill('SIGKILL')
    throw error
  })
  return {
    url,
    pid: child.pid,
    close: async () => {
      child.kill('SIGTERM')
      const timer = setTimeout(() => child.kill('SIGKILL'), 15_000)
      await exit
      clearTimeout(timer)
    },
  }
}

/** Starts a server that answers every POST with 200, as a chat does. */
export async function startReceiver(): Promise<Running> {
  const server = createServer((request, response) => {
    request.resume().on('end', () => response.end('ok'))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    close: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
