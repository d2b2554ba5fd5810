import { execFile } from 'node:child_process'
import { access, constants } from 'node:fs/promises'
import { delimiter, isAbsolute, join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)
const HELP_MS = 10_000

/** Absolute paths of the programs that build the sandbox; empty for one that is not installed. */
export interface Helpers {
  sh: string
  bwrap: string
  setpriv: string
  prlimit: string
  mount: string
  unshare: string
  pasta: string
  nsenter: string
  ip: string
}

type Name = keyof Helpers
const FOLDERS = ['/usr/local/bin', '/usr/bin', '/bin', '/usr/local/sbin', '/usr/sbin', '/sbin']
const PACKAGES: Record<Name, string> = {
  sh: 'dash',
  bwrap: 'bubblewrap',
  setpriv: 'util-linux',
  prlimit: 'util-linux',
  mount: 'mount',
  unshare: 'util-linux',
  pasta: 'passt',
  nsenter: 'util-linux',
  ip: 'iproute2',
}

/** The programs of a sandbox, and the additional ones of its network. */
export const FOR_SANDBOX: readonly Name[] = ['sh', 'bwrap', 'setpriv', 'prlimit']
export const FOR_ROOT: readonly Name[] = ['mount', 'unshare']
export const FOR_NETWORK: readonly Name[] = ['pasta', 'nsenter', 'ip']

/** Finds the programs in the system's own folders, then on PATH. `missing` names the packages to install. */
export async function findHelpers(
  path: string,
): Promise<{ helpers: Helpers; missing(names: readonly Name[]): string[] }> {
  const names = Object.keys(PACKAGES) as Name[]
  const folders = [...FOLDERS, ...path.split(delimiter).filter(isAbsolute)]
  const helpers = { ...PACKAGES }
  for (const name of names) helpers[name] = (await find(name, folders)) ?? ''
  return {
    helpers,
    missing: (wanted) => [...new Set(wanted.filter((name) => helpers[name] === '').map((name) => PACKAGES[name]))],
  }
}

async function find(name: string, folders: readonly string[]): Promise<string | null> {
  for (const folder of folders) {
    const path = join(folder, name)
    const isProgram = await access(path, constants.X_OK).then(
      () => true,
      () => false,
    )
    if (isProgram) return path
  }
  return null
}

/** Reports whether this bubblewrap knows an option. Before 0.8 it cannot forbid nested user namespaces. */
export async function knowsOption(bwrap: string, option: string): Promise<boolean> {
  const { stdout, stderr } = await run(bwrap, ['--help'], { timeout: HELP_MS })
  return `${stdout}${stderr}`.includes(option)
}
