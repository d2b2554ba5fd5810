import { execFile } from 'node:child_process'
import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

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
