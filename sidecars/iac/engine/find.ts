import { execFile } from 'node:child_process'
import { constants } from 'node:fs'
import { access, stat } from 'node:fs/promises'
import { delimiter, isAbsolute, join } from 'node:path'
import { promisify } from 'node:util'
import type { Logger } from '../../../src/base/log.ts'
import { SettingsError } from '../../shared/settings.ts'
import type { Engine } from '../types.ts'
import { withoutOwnSettings } from './command.ts'

const isProgram = (path: string): Promise<boolean> =>
  access(path, constants.X_OK)
    .then(async () => (await stat(path)).isFile())
    .catch(() => false)

/** Returns the absolute path of a program; null when no absolute folder of `path` holds it. */
export async function findOnPath(name: string, path: string): Promise<string | null> {
  for (const folder of path.split(delimiter).filter(isAbsolute)) {
    const candidate = join(folder, name)
    if (await isProgram(candidate)) return candidate
  }
  return null
}

/** Returns the absolute path of `tofu` on PATH, else of `terraform`; null when neither exists. */
export async function findInstalledEngine(path: string, platform = process.platform): Promise<string | null> {
  const suffix = platform === 'win32' ? '.exe' : ''
  return (await findOnPath(`tofu${suffix}`, path)) ?? (await findOnPath(`terraform${suffix}`, path))
}

/** Finds the engine: `binary`, else `tofu` on PATH, else `terraform`, else `download`. Errors: `SettingsError`. */
export async function findEngine(options: {
  binary: string
  path: string
  download: (() => Promise<string>) | null
}): Promise<string> {
  const { binary, path, download } = options
  if (binary) {
    const program = isAbsolute(binary) ? ((await isProgram(binary)) ? binary : null) : await findOnPath(binary, path)
    if (program) return program
    throw new SettingsError(`IAC_BINARY '${binary}' is neither an executable file nor a program on PATH`)
  }
  const installed = await findInstalledEngine(path)
  if (installed) return installed
  if (download) return download()
  throw new SettingsError(
    'No engine found. Install OpenTofu (tofu) or Terraform (terraform) on PATH, set IAC_BINARY to one, ' +
      'or set IAC_DOWNLOAD=true to fetch a pinned OpenTofu release.',
  )
}

/** Reads name and version of the binary. An engine that does not report them is used all the same. */
export async function probeEngine(
  binary: string,
  env: Record<string, string | undefined>,
  log: Logger,
): Promise<Engine> {
  try {
    const limits = { timeout: 30_000, maxBuffer: 1024 * 1024 }
    const options = { ...limits, env: { ...withoutOwnSettings(env), CHECKPOINT_DISABLE: '1' } }
    const { stdout } = await promisify(execFile)(binary, ['version'], options)
    // OpenTofu writes warnings about its configuration before the line with its version.
    const [line, name, version] = /^(\S+) v?(\d\S*)/m.exec(stdout) ?? []
    const first = stdout.split('\n', 1)[0]?.trim()
    log.info('engine found', { binary, version: line ?? first })
    return { binary, name: name ?? (first || 'unknown'), version: version ?? 'unknown' }
  } catch (error) {
    log.warn('engine version unknown', { binary, error })
    return { binary, name: 'unknown', version: 'unknown' }
  }
}

const ARCHITECTURES: Partial<Record<NodeJS.Architecture, string>> = { x64: 'amd64', ia32: '386' }
const system = process.platform === 'win32' ? 'windows' : process.platform

/** This machine in the notation of engine and provider releases: `linux_amd64`. */
export const PLATFORM = `${system}_${ARCHITECTURES[process.arch] ?? process.arch}`
