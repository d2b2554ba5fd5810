import { randomUUID } from 'node:crypto'
import { cp, lchown, lstat, mkdir, realpath, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { reasonOf } from '../../shared/settings.ts'
import { type EngineCommand, runEngine, stopLeftover } from '../engine/process.ts'
import { findBoundary } from '../limits/workspace.ts'
import { readTail } from '../output/files.ts'
import { JobFault } from '../types.ts'
import { INSIDE, type Mount, type View, wrapCommand } from './bubblewrap.ts'
import type { Access, Executor } from './executor.ts'
import { createReadableInside, handOver, handOverAll, shareWithGroup, type User } from './file-permissions.ts'
import type { Helpers } from './helpers.ts'
import { type CommandNetworks, SYSTEM_PATH } from './network.ts'
import type { ControlGroups, JobGroup, ResourceLimits } from './resources.ts'

export interface SandboxParts {
  helpers: Helpers
  /** Folder of the sandbox in the data folder. */
  folder: string
  /** Absolute path of the engine, and its name inside. */
  engine: string
  engineName: string
  homeOfService: string
  /** The user who runs engines; null for that of the service. */
  runAs: User | null
  canDisableUserNamespaces: boolean
  /** Null where this machine lets the service create none. */
  groups: ControlGroups | null
  /** Null shares the network of the machine. */
  network: CommandNetworks | null
  limits: ResourceLimits
  graceMs: number
}

/** Creates an executor that runs every command in its own bubblewrap sandbox on this machine. */
export function createLocalSandbox(parts: SandboxParts): Executor {
  /** The removals of the remains of commands, which go on while the next command runs already. */
  const removals = new Set<Promise<unknown>>()
  const isReadableInside = createReadableInside()
  const remove = (removal: Promise<unknown>) => {
    // The next start of the service removes the rest.
    const going = removal.catch(() => {}).finally(() => removals.delete(going))
    removals.add(going)
  }
  return {
    boundary: {
      sandbox: 'bubblewrap',
      network: parts.network === null ? 'host' : 'isolated',
      limits: parts.groups === null ? 'process' : 'cgroup',
    },
    run: (command, access) => runInside({ ...parts, isReadableInside, remove }, command, access),
    stopLeftover: (leader) => stopLeftover(leader, parts.graceMs),
    close: async () => {
      await Promise.all(removals)
      parts.network?.close()
    },
  }
}

interface OpenParts extends SandboxParts {
  isReadableInside: ReturnType<typeof createReadableInside>
  /** Lets a removal go on beside the next command. */
  remove(removal: Promise<unknown>): void
}

async function runInside(parts: OpenParts, command: EngineCommand, access: Access): Promise<number> {
  const runAs = await chooseUser(parts, command.cwd)
  // A job may run several commands, and the remains of one may still exist when the next one starts.
  const name = `${command.name}-${randomUUID().slice(0, 8)}`
  const [scratch, group] = await Promise.all([
    createScratch(parts.folder, name, runAs),
    parts.groups?.create(name, parts.limits),
  ])
  let network: Awaited<ReturnType<CommandNetworks['take']>> | undefined
  let hasEnded = false
  try {
    if (command.reachesNetwork)
      network = await parts.network?.take(command).catch((error: unknown) => {
        throw new JobFault(503, `The network of the engine could not be opened: ${reasonOf(error)}`)
      })
    const workspace = command.cwd
    const boundary = await findBoundary(workspace)
    if (runAs && runAs === parts.runAs) await handOver(boundary, workspace, runAs)
    const view = await viewOf({ ...parts, runAs }, { workspace, boundary, scratch }, access)
    const inside = join(INSIDE.engine, parts.engineName)
    const wrapped = await wrapCommand({
      helpers: parts.helpers,
      view,
      command: [inside, ...command.args],
      limits: parts.limits,
      network: network?.prefix ?? [],
      hasOwnNetwork: parts.network !== null && !command.reachesNetwork,
      groups: group?.entries ?? [],
      runAs,
      savesState: command.savesState,
      canDisableUserNamespaces: parts.canDisableUserNamespaces,
    })
    const own = { PATH: SYSTEM_PATH, HOME: INSIDE.home, TMPDIR: INSIDE.tmp, USER: 'engine', LOGNAME: 'engine' }
    const env = { ...command.env, ...own }
    const launch = { command: wrapped, env, isBoxed: true, growing: [workspace, scratch] }
    const onStarted: EngineCommand['onStarted'] = (identity) => {
      command.onStarted(identity)
      network?.openNext()
    }
    const exitCode = await runEngine({ ...command, onStarted }, launch)
    // With process 1 of the sandbox all others have ended. Higher codes may be of a sandbox that was killed itself.
    hasEnded = exitCode < 128
    if (exitCode !== 0 && (await ranOutOfMemory(command, group))) {
      const mib = Math.round(parts.limits.memoryBytes / 1024 ** 2)
      throw new JobFault(500, `The engine needed more than ${mib} MiB of memory (IAC_MAX_MEMORY_MIB).`)
    }
    return exitCode
  } finally {
    network?.end(hasEnded)
    if (!runAs) await shareWithGroup(command.cwd, process.getuid?.() ?? 0)
    parts.remove(Promise.all([group?.remove(), rm(scratch, { recursive: true, force: true })]))
  }
}

/** Chooses the owner of the workspace unless that is root, because the owner could not work in it later otherwise. */
async function chooseUser({ runAs }: SandboxParts, workspace: string): Promise<User | null> {
  if (runAs === null) return null
  const { uid, gid } = await lstat(workspace)
  return uid === 0 || uid === runAs.uid ? runAs : { uid, gid }
}

async function createScratch(folder: string, name: string, runAs: User | null): Promise<string> {
  const scratch = join(folder, 'jobs', name)
  for (const path of [scratch, join(scratch, 'tmp'), join(scratch, 'home')]) {
    await mkdir(path, { mode: 0o700 })
    if (runAs) await lchown(path, runAs.uid, runAs.gid)
  }
  return scratch
}

async function viewOf(
  { runAs, engine, folder, homeOfService, isReadableInside }: OpenParts,
  { workspace, boundary, scratch }: Pick<View, 'workspace' | 'boundary' | 'scratch'>,
  access: Access,
): Promise<View> {
  const atHome = access.home.map((name) => ({ from: join(homeOfService, name), inside: join(INSIDE.home, name) }))
  const secrets = await existing([...samePath(access.private), ...atHome])
  const moved = access.moved ?? []
  const owned = await existing(moved.filter(({ isWritable }) => isWritable))
  const writable = await existing(samePath(access.writable))
  if (runAs) {
    for (const { from } of writable) await lchown(from, runAs.uid, runAs.gid)
    for (const { from } of owned) await handOverAll(from, runAs)
  }
  return {
    engine,
    workspace,
    boundary,
    shared: folder,
    scratch,
    etc: join(folder, 'etc'),
    readable: [
      ...(await existing(samePath(access.readable))),
      ...(await existing(moved.filter(({ isWritable }) => !isWritable))),
      ...(runAs ? await copyFor(runAs, secrets, join(scratch, 'private'), isReadableInside) : secrets),
    ],
    writable: [...writable, ...owned],
  }
}

const samePath = (paths: readonly string[]): Mount[] =>
  [...new Set(paths)].map((path) => ({ from: path, inside: path }))

const existing = async (mounts: readonly Mount[]): Promise<Mount[]> => {
  const real = await Promise.all(mounts.map(({ from }) => realpath(from).catch(() => null)))
  return mounts.flatMap((mount, index) => (real[index] ? [{ ...mount, from: real[index] }] : []))
}

/** Copies files for the engine's user that only root can read, except those that are readable inside anyway. */
async function copyFor(
  user: User,
  mounts: readonly Mount[],
  folder: string,
  isReadableInside: OpenParts['isReadableInside'],
): Promise<Mount[]> {
  await mkdir(folder, { mode: 0o700 })
  await lchown(folder, user.uid, user.gid)
  const copies = await Promise.all(
    mounts.map(async ({ from, inside }, index) => {
      if (await isReadableInside(inside, user)) return []
      const copy = join(folder, String(index))
      await cp(from, copy, { recursive: true, dereference: true })
      await handOverAll(copy, user)
      return [{ from: copy, inside }]
    }),
  )
  return copies.flat()
}

const ranOutOfMemory = async ({ stderr }: EngineCommand, group: JobGroup | undefined): Promise<boolean> =>
  (await group?.ranOutOfMemory()) ||
  /out of memory|cannot allocate memory|bad_alloc|MemoryError/i.test(await readTail(stderr, 64 * 1024))
