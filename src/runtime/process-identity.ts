import { readdirSync, readFileSync } from 'node:fs'

/** A process. `started` distinguishes it from a later one with the same id. */
export interface ProcessIdentity {
  pid: number
  /** Empty without /proc. */
  started: string
}

interface ProcessStat {
  state: string
  parent: number
  group: number
  /** Clock ticks from the boot of the machine to the start of the process. */
  started: string
}

/** Reads a process from /proc; null when there is no such process, or no /proc as on macOS. */
function readStat(pid: number | string): ProcessStat | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1')
    // The program's name in parentheses may contain spaces, so the fields are counted from its end.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
    return { state: fields[0] ?? '', parent: Number(fields[1]), group: Number(fields[2]), started: fields[19] ?? '' }
  } catch {
    return null
  }
}

const readBootId = (): string => {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
  } catch {
    return ''
  }
}

const HAS_PROC = readStat(process.pid) !== null

export function identify(pid: number): ProcessIdentity {
  const stat = readStat(pid)
  return { pid, started: stat ? `${readBootId()}/${stat.started}` : '' }
}

/** True while exactly this process is alive. False for a zombie, which has ended and waits for its parent. */
export function isAlive(identity: ProcessIdentity): boolean {
  if (!HAS_PROC) return trySignal(identity.pid, 0)
  const stat = readStat(identity.pid)
  return stat !== null && stat.state !== 'Z' && `${readBootId()}/${stat.started}` === identity.started
}

/**
 * True while a process of the group that `leader` led is alive. The kernel does not reuse the number of a group while
 * it has members, so members without their leader still belong to the old group.
 */
export function isGroupAlive(leader: ProcessIdentity): boolean {
  if (!HAS_PROC) return trySignal(-leader.pid, 0)
  const stat = readStat(leader.pid)
  const current = stat ? `${readBootId()}/${stat.started}` : null
  if (current !== null && current !== leader.started) return false
  if (!leader.started.startsWith(`${readBootId()}/`)) return false
  return readdirSync('/proc').some((name) => {
    if (!/^\d+$/.test(name)) return false
    const member = readStat(name)
    return member !== null && member.group === leader.pid && member.state !== 'Z'
  })
}

/** Returns the live child processes of this one; empty without /proc. */
export function childrenOf(pid: number): number[] {
  if (!HAS_PROC) return []
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((name) => {
      const stat = readStat(name)
      return stat !== null && stat.parent === pid && stat.state !== 'Z'
    })
    .map(Number)
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
