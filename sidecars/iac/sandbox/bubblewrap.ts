import { lstat, readlink } from 'node:fs/promises'
import { join, relative } from 'node:path'
import type { Helpers } from './helpers.ts'
import { prlimitArguments, type ResourceLimits } from './resources.ts'

/** Paths inside the sandbox. The engine keeps its name, which is part of its messages. */
export const INSIDE = { engine: '/engine', home: '/home/engine', tmp: '/tmp', uid: 1000 }

/** Files of `/etc` that programs read: certificates and names of services, nothing specific to the machine. */
const ETC = [
  'ssl',
  'pki',
  'ca-certificates',
  'ca-certificates.conf',
  'nsswitch.conf',
  'protocols',
  'services',
  'localtime',
  'mime.types',
  'ld.so.cache',
  'ld.so.conf',
  'ld.so.conf.d',
  'alternatives',
].map((name) => `/etc/${name}`)

/** Paths of the machine that every sandbox has at the same place, read-only. */
export const SHARED_PATHS = ['/usr', ...ETC]

/** The files that one command sees. All paths are absolute and real. */
export interface View {
  engine: string
  workspace: string
  /** The read-only folder that holds the workspace: the clone. */
  boundary: string
  /** The folder of the sandbox, with the engine, `etc` and `scratch`. */
  shared: string
  /** The folder with `tmp` and `home`, which only this command has. */
  scratch: string
  /** The folder with `passwd`, `group`, `hosts` and `resolv.conf`, which replace those of the machine. */
  etc: string
  /** Files and folders that can be read, each with its path inside. */
  readable: readonly Mount[]
  /** Folders that can also be written. */
  writable: readonly Mount[]
}

export interface Mount {
  from: string
  inside: string
}

export interface Wrapping {
  helpers: Helpers
  view: View
  /** The engine's name inside and its arguments. */
  command: readonly string[]
  limits: ResourceLimits
  /** The words that enter the network namespace and run the rest; empty shares the network of the machine. */
  network: readonly string[]
  /** True for a namespace that bubblewrap makes, in which nothing can be reached. */
  hasOwnNetwork: boolean
  /** Files of control groups that the command enters; empty for none. */
  groups: readonly string[]
  /** The user who runs the engine; null for the user of the service, who is not root. */
  runAs: { uid: number; gid: number } | null
  /** True for a command that writes state: when the service dies it is interrupted, not killed. */
  savesState: boolean
  canDisableUserNamespaces: boolean
}

/** Folders of the machine with programs and libraries; often links into `/usr`. */
const SYSTEM = ['bin', 'sbin', 'lib', 'lib32', 'lib64', 'libx32']
const OWN_ETC = ['passwd', 'group', 'hosts', 'resolv.conf']

/** Returns the command line that runs the engine in its own sandbox. */
export async function wrapCommand(wrapping: Wrapping): Promise<string[]> {
  const { helpers, network, groups, runAs, savesState } = wrapping
  const sources = createSources(runAs !== null, wrapping.view.shared)
  const interrupted = savesState ? [helpers.setpriv, '--pdeathsig', 'INT', '--'] : []
  // This becomes process 1 inside: no other process then knows the environment, and all end with it.
  const inner = [...interrupted, helpers.prlimit, ...prlimitArguments(wrapping.limits), '--', ...wrapping.command]
  const box = [sources.of(helpers.bwrap), ...(await boxArguments(wrapping, sources)), '--', ...inner]
  const user = runAs === null ? [] : [`--reuid=${runAs.uid}`, `--regid=${runAs.gid}`, '--clear-groups']
  const death = savesState ? ['--pdeathsig', 'KILL'] : []
  const asUser = user.length + death.length > 0 ? [helpers.setpriv, ...user, ...death, '--', ...box] : box
  const words = runAs === null ? [] : await stageArguments(helpers, groups, sources.all)
  const entered = groups.length === 0 ? [] : [helpers.sh, '-c', `${ENTER}exec "$@"`, 'enter', ...groups, '--']
  return runAs === null ? [...entered, ...network, ...asUser] : [...network, ...words, ...asUser]
}

/**
 * Writes the process id of the shell, which the executed program keeps, into files of control groups: the arguments up
 * to `--`.
 */
const ENTER = 'while [ "$1" != -- ]; do echo $$ > "$1" || exit 125; shift; done; shift; '

/**
 * Mounts the visible files where the engine's user, who cannot enter private folders, can reach them. The arguments are
 * the files to create, separated by spaces, and the table of the mounts, which one process carries out.
 */
const STAGE = `set -e
"$0" -t tmpfs -o mode=0755,size=1m tmpfs /run
cd /run
for file in $1; do : > "$file"; done
printf %s "$2" > table
"$0" -a -T /run/table
shift 2
exec "$@"`

type Sources = ReturnType<typeof createSources>

/** Creates the sources. `shared` is mounted as a whole, because every command needs several parts of it. */
function createSources(staged: boolean, shared: string) {
  const all = [shared]
  return {
    /** The mounts that `of` needs, in this order. */
    all,
    /** Returns the path at which bubblewrap can reach a path. */
    of: (path: string): string => {
      if (!staged || path.startsWith('/usr/')) return path
      if (path.startsWith(`${shared}/`)) return join('/run/0', relative(shared, path))
      const known = all.indexOf(path)
      return `/run/${known === -1 ? all.push(path) - 1 : known}`
    },
  }
}

async function stageArguments(
  { sh, mount, unshare }: Helpers,
  groups: readonly string[],
  paths: readonly string[],
): Promise<string[]> {
  const folders = await Promise.all(paths.map(async (path) => (await lstat(path)).isDirectory()))
  const files = [...paths.keys()].filter((index) => !folders[index])
  const table = paths.map(
    (path, index) => `${escapeSpaces(path)} /run/${index} none bind${folders[index] ? ',X-mount.mkdir' : ''} 0 0\n`,
  )
  const script = [sh, '-c', `${ENTER}${STAGE}`, mount, ...groups, '--', files.join(' '), table.join('')]
  return [unshare, '--mount', '--', ...script]
}

/** Writes a path as tables of mounts do, in which white space separates the fields. */
const escapeSpaces = (path: string): string =>
  path.replaceAll(/[ \t\n\v\f\r\\#]/g, (character) => `\\${character.charCodeAt(0).toString(8).padStart(3, '0')}`)

async function boxArguments(wrapping: Wrapping, sources: Sources): Promise<string[]> {
  const { view, savesState, hasOwnNetwork } = wrapping
  return [
    ...(hasOwnNetwork ? ['--unshare-net'] : []),
    ...['--unshare-user', '--unshare-pid', '--unshare-ipc', '--unshare-uts', '--unshare-cgroup-try'],
    ...(wrapping.canDisableUserNamespaces ? ['--disable-userns'] : []),
    ...['--uid', String(INSIDE.uid), '--gid', String(INSIDE.uid), '--hostname', 'engine', '--as-pid-1'],
    ...(savesState ? [] : ['--die-with-parent']),
    ...(await systemArguments()),
    ...OWN_ETC.flatMap((name) => ['--ro-bind', join(sources.of(view.etc), name), `/etc/${name}`]),
    // A process of the machine's root may write there even without a capability, and so control the machine.
    ...['--proc', '/proc', '--ro-bind', '/proc/sys', '/proc/sys', '--dev', '/dev'],
    ...['--bind', join(sources.of(view.scratch), 'tmp'), INSIDE.tmp],
    ...['--bind', join(sources.of(view.scratch), 'home'), INSIDE.home],
    ...view.readable.flatMap(({ from, inside }) => ['--ro-bind', sources.of(from), inside]),
    ...view.writable.flatMap(({ from, inside }) => ['--bind', sources.of(from), inside]),
    ...(await workspaceArguments(view, sources)),
    ...['--ro-bind', sources.of(view.engine), wrapping.command[0] ?? ''],
    // The folders above the mounts are memory without any other limit.
    ...['--remount-ro', '/dev', '--remount-ro', '/', '--chdir', view.workspace],
  ]
}

async function workspaceArguments({ workspace, boundary }: View, sources: Sources): Promise<string[]> {
  const from = sources.of(boundary)
  const below = relative(boundary, workspace)
  const git = await lstat(join(boundary, '.git')).catch(() => null)
  return [
    ...(below === '' ? [] : ['--ro-bind', from, boundary]),
    ...['--bind', join(from, below), workspace],
    // Git of any user of this clone would run what the engine writes there.
    ...(git?.isDirectory() ? ['--tmpfs', join(boundary, '.git'), '--remount-ro', join(boundary, '.git')] : []),
    ...(git?.isFile() ? ['--ro-bind', '/dev/null', join(boundary, '.git')] : []),
  ]
}

async function systemArguments(): Promise<string[]> {
  const folders = await Promise.all(
    SYSTEM.map(async (name) => {
      const entry = await lstat(`/${name}`).catch(() => null)
      if (entry?.isSymbolicLink()) return ['--symlink', await readlink(`/${name}`), `/${name}`]
      return entry?.isDirectory() ? ['--ro-bind', `/${name}`, `/${name}`] : []
    }),
  )
  return ['--ro-bind', '/usr', '/usr', ...folders.flat(), ...ETC.flatMap((path) => ['--ro-bind-try', path, path])]
}
