import { readdirSync, readFileSync } from 'node:fs'

/** A process. `started` distinguishes it from a later one with the same id. */
export interface ProcessIdentity {
  pid: number
  /** Empty without /proc. */
  started: string
}

const BOOT_ID = readIfPresent('/proc/sys/kernel/random/boot_id')

function readIfPresent(path: string): string {
  try {
    return readFileSync(path, 'utf8').trim()
  } catch {
    return ''
  }
}

/** Reads a process from /proc; null when there is no such process, or no /proc as on macOS. */
function readStat(pid: number | string) {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1')
    // The program's name in parentheses may contain spaces, so the fields are counted from its end.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
    // The start of the process is in clock ticks from the boot of the machine, which its id makes unique.
    const started = `${BOOT_ID}/${fields[19] ?? ''}`
    return {
      pid: Number(pid),
      isZombie: fields[0] === 'Z',
      parent: Number(fields[1]),
      group: Number(fields[2]),
      started,
    }
  } catch {
    return null
  }
}

const HAS_PROC = readStat(process.pid) !== null

export const identify = (pid: number): ProcessIdentity => ({ pid, started: readStat(pid)?.started ?? '' })

/** True while exactly this process is alive. False for a zombie, which has ended and waits for its parent. */
export function isAlive(identity: ProcessIdentity): boolean {
  if (!HAS_PROC) return trySignal(identity.pid, 0)
  const stat = readStat(identity.pid)
  return stat !== null && !stat.isZombie && stat.started === identity.started
}

/** Reads all processes but zombies; none without /proc. */
function readAll() {
  const names = HAS_PROC ? readdirSync('/proc').filter((name) => /^\d+$/.test(name)) : []
  return names.flatMap((name) => {
    const stat = readStat(name)
    return stat && !stat.isZombie ? [stat] : []
  })
}

/**
 * True while a process of the group that `leader` led is alive. The kernel does not reuse the number of a group while
 * it has members, so members without their leader still belong to the old group.
 */
export function isGroupAlive(leader: ProcessIdentity): boolean {
  if (!HAS_PROC) return trySignal(-leader.pid, 0)
  const stat = readStat(leader.pid)
  if (stat && stat.started !== leader.started) return false
  if (!leader.started.startsWith(`${BOOT_ID}/`)) return false
  return readAll().some(({ group }) => group === leader.pid)
}

/** Returns the live child processes of this one; empty without /proc. */
export const childrenOf = (parent: number): number[] =>
  (listedChildren(parent) ?? readAll())
    .filter((stat) => stat?.parent === parent && !stat.isZombie)
    .flatMap((stat) => stat?.pid ?? [])

/** Reads the children that the kernel lists for each thread; null where it keeps no such list. */
function listedChildren(parent: number) {
  try {
    const lists = readdirSync(`/proc/${parent}/task`).map((thread) =>
      readFileSync(`/proc/${parent}/task/${thread}/children`, 'latin1'),
    )
    return lists.join(' ').split(/\s+/).filter(Boolean).map(readStat)
  } catch {
    return null
  }
}

/** Sends a signal to the whole group; false when the group is gone. */
export const signalGroup = (pid: number, signal: NodeJS.Signals): boolean => trySignal(-pid, signal)

/** Sends a signal to one process; false when it is gone. */
export const signalProcess = (pid: number, signal: NodeJS.Signals): boolean => trySignal(pid, signal)

function trySignal(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(pid, signal)
    return true
  } catch {
    return false
  }
}
