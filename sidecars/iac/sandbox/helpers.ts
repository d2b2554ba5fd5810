import { execFile } from 'node:child_process'
import { delimiter } from 'node:path'
import { promisify } from 'node:util'
import { findOnPath } from '../engine/find.ts'

/** Absolute paths of the programs that build the sandbox; empty for one that is not installed. */
export type Helpers = Record<Name, string>

type Name = keyof typeof PACKAGES
const FOLDERS = ['/usr/local/bin', '/usr/bin', '/bin', '/usr/local/sbin', '/usr/sbin', '/sbin']
const PACKAGES = {
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
  const helpers: Helpers = { ...PACKAGES }
  for (const name of names) helpers[name] = (await findOnPath(name, [...FOLDERS, path].join(delimiter))) ?? ''
  return {
    helpers,
    missing: (wanted) => [...new Set(wanted.filter((name) => helpers[name] === '').map((name) => PACKAGES[name]))],
  }
}

/** Reports whether this bubblewrap knows an option. Before 0.8 it cannot forbid nested user namespaces. */
export async function knowsOption(bwrap: string, option: string): Promise<boolean> {
  const { stdout, stderr } = await promisify(execFile)(bwrap, ['--help'], { timeout: 10_000 })
  return `${stdout}${stderr}`.includes(option)
}
