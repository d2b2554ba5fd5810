import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

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
  const flags = '--blobHost 127.0.0.1 --blobPort 0 --inMemoryPersistence --disableTelemetry --silent'.split(' ')
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

const FOLDER = join(import.meta.dirname, '../../../node_modules/.cache/azurite')
const PACKAGE = join(FOLDER, 'node_modules/azurite')
// 3.37.0 needs a version of a telemetry package that not all registries have.
const VERSION = '3.36.0'
const LIMIT_MS = 10 * 60_000

/**
 * Returns the script of the blob emulator, which it installs if needed. With its packages it has 190 MB, so it is no
 * dependency of the project and is kept in a cache folder of its own. Throws npm's error if the installation fails.
 */
export async function installAzurite(): Promise<string> {
  if ((await installedVersion()) !== VERSION) {
    console.log(`installing azurite ${VERSION}`)
    await mkdir(FOLDER, { recursive: true })
    const flags = ['--prefix', FOLDER, '--no-save', '--no-audit', '--no-fund', '--ignore-scripts', '--loglevel=error']
    await promisify(execFile)('npm', ['install', ...flags, `azurite@${VERSION}`], { cwd: FOLDER, timeout: LIMIT_MS })
    const installed = await installedVersion()
    if (installed !== VERSION) throw new Error(`npm installed ${installed ?? 'nothing'} instead of ${VERSION}`)
  }
  return join(PACKAGE, 'dist/src/blob/main.js')
}

async function installedVersion(): Promise<string | null> {
  const text = await readFile(join(PACKAGE, 'package.json'), 'utf8').catch(() => null)
  return text === null ? null : String(JSON.parse(text).version)
}
