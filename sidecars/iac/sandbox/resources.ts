import { constants } from 'node:fs'
import { access, mkdir, readdir, readFile, rmdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { identify, isAlive } from '../../../src/runtime/process-identity.ts'

/** Limits of one engine command with everything that it starts. */
export interface ResourceLimits {
  memoryBytes: number
  /** Processes and threads. */
  processes: number
  /** Largest file, in bytes. */
  fileBytes: number
}

/** Returns the arguments of `prlimit`. The memory limit is per process, without reserved address space. */
export const prlimitArguments = ({ memoryBytes, processes, fileBytes }: ResourceLimits): string[] => [
  `--data=${memoryBytes}`,
  `--fsize=${fileBytes}`,
  `--nproc=${processes}`,
  '--nofile=16384',
  '--core=0',
]

export interface JobGroup {
  /** Files into which a process writes its id to enter. */
  entries: string[]
  /** Reports whether the kernel has ended a process of the group for lack of memory. */
  ranOutOfMemory(): Promise<boolean>
  remove(): Promise<void>
}

/** Creates control groups for jobs below that of the service. */
export interface ControlGroups {
  create(jobName: string, limits: ResourceLimits): Promise<JobGroup>
}

/** Opens delegated control groups of version 2, else those of version 1; null if the machine forbids both. */
export async function openControlGroups(
  root = '/sys/fs/cgroup',
  self = '/proc/self/cgroup',
): Promise<ControlGroups | null> {
  const own = await readFile(self, 'utf8').catch(() => '')
  return (await openVersion2(root, own)) ?? (await openVersion1(root, own))
}

/** Prefix of a group's name, before the process id of its service. */
const NAME = 'platform-engine-'
const nameOf = (job: string) => `${NAME}${process.pid}-${job}`

/** Removes the groups of killed services. That of a live service may be empty for a moment and stays. */
async function removeOldGroups(folder: string): Promise<void> {
  const names = await readdir(folder).catch(() => [])
  const old = names.filter((name) => {
    const pid = name.startsWith(NAME) ? Number(name.slice(NAME.length).split('-', 1)[0]) : Number.NaN
    return Number.isInteger(pid) && !isAlive(identify(pid))
  })
  await Promise.all(old.map((name) => rmdir(join(folder, name)).catch(() => {})))
}

async function openVersion2(root: string, own: string): Promise<ControlGroups | null> {
  const path = /^0::(\/.*)$/m.exec(own)?.[1]
  if (path === undefined) return null
  const folder = join(root, path)
  const controllers = await readFile(join(folder, 'cgroup.controllers'), 'utf8').catch(() => '')
  if (!['memory', 'pids'].every((name) => controllers.split(/\s+/).includes(name))) return null
  try {
    await access(folder, constants.W_OK)
    // A group that delegates controllers must hold no process itself.
    await mkdir(join(folder, 'service'), { recursive: true })
    await writeFile(join(folder, 'service', 'cgroup.procs'), String(process.pid))
    await writeFile(join(folder, 'cgroup.subtree_control'), '+memory +pids')
  } catch {
    return null
  }
  await removeOldGroups(folder)
  return {
    create: async (name, limits) => {
      const group = join(folder, nameOf(name))
      await mkdir(group)
      await writeFile(join(group, 'memory.max'), String(limits.memoryBytes))
      await writeFile(join(group, 'memory.swap.max'), '0').catch(() => {})
      await writeFile(join(group, 'pids.max'), String(limits.processes))
      return jobGroup([group], join(group, 'memory.events'))
    },
  }
}

async function openVersion1(root: string, own: string): Promise<ControlGroups | null> {
  const folderOf = (controller: string) => {
    const line = own.split('\n').find((each) => each.split(':')[1]?.split(',').includes(controller))
    return line === undefined ? null : join(root, controller, line.split(':').slice(2).join(':'))
  }
  const [memory, pids] = [folderOf('memory'), folderOf('pids')]
  if (memory === null || pids === null) return null
  try {
    await Promise.all([memory, pids].map((folder) => access(join(folder, 'cgroup.procs'), constants.W_OK)))
  } catch {
    return null
  }
  await Promise.all([memory, pids].map(removeOldGroups))
  return {
    create: async (name, limits) => {
      const groups = [join(memory, nameOf(name)), join(pids, nameOf(name))] as const
      await Promise.all(groups.map((group) => mkdir(group)))
      await writeFile(join(groups[0], 'memory.limit_in_bytes'), String(limits.memoryBytes))
      await writeFile(join(groups[0], 'memory.memsw.limit_in_bytes'), String(limits.memoryBytes)).catch(() => {})
      await writeFile(join(groups[1], 'pids.max'), String(limits.processes))
      return jobGroup(groups, join(groups[0], 'memory.oom_control'))
    },
  }
}

const jobGroup = (groups: readonly string[], events: string): JobGroup => ({
  entries: groups.map((group) => join(group, 'cgroup.procs')),
  ranOutOfMemory: async () => /^oom_kill [1-9]/m.test(await readFile(events, 'utf8').catch(() => '')),
  remove: () => removeGroups(groups),
})

/** Removes groups, with retries for two seconds: the kernel releases the last process shortly after its end. */
async function removeGroups(groups: readonly string[]): Promise<void> {
  const until = performance.now() + 2000
  const isGone = (error: NodeJS.ErrnoException): boolean => error.code === 'ENOENT'
  for (const group of groups)
    while (!(await rmdir(group).then(() => true, isGone)) && performance.now() < until) await delay(5)
}
