import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** The emulator's values for the tests. The account is not the usual one of emulators, so that no default can match. */
export interface Emulator {
  port: number
  account: string
  /** Base64. */
  key: string
}

const START_MS = 60_000

/** Starts a blob emulator in memory on a free loopback port. */
export async function startAzurite(script: string): Promise<Emulator & { stop(): Promise<void> }> {
  const account = 'platformtest'
  const key = Buffer.from(crypto.getRandomValues(new Uint8Array(64))).toString('base64')
  const folder = await mkdtemp(join(tmpdir(), 'azurite-'))
  const flags = [
    '--blobHost',
    '127.0.0.1',
    '--blobPort',
    '0',
    '--inMemoryPersistence',
    '--disableTelemetry',
    '--silent',
  ]
  const child = spawn(
    process.execPath,
    ['--import', join(import.meta.dirname, 'end-with-parent.ts'), script, ...flags],
    {
      cwd: folder,
      env: { PATH: process.env.PATH, AZURITE_ACCOUNTS: `${account}:${key}` },
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    },
  )
  const ended = once(child, 'exit')
  const stop = async () => {
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL')
    await ended
    await rm(folder, { recursive: true, force: true })
  }
  let output = ''
  const listening = new Promise<number>((resolve, reject) => {
    const read = (chunk: Buffer) => {
      output += chunk
      const port = /listens on http:\/\/127\.0\.0\.1:(\d+)/.exec(output)?.[1]
      if (port) resolve(Number(port))
    }
    child.stdout?.on('data', read)
    child.stderr?.on('data', read)
    void ended.then(() => reject(new Error(`azurite ended\n${output}`)))
    setTimeout(() => reject(new Error(`azurite does not listen\n${output}`)), START_MS).unref()
  })
  try {
    return { port: await listening, account, key, stop }
  } catch (error) {
    await stop()
    throw error
  }
}
