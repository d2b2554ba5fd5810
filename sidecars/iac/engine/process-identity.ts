import { readdirSync, readFileSync } from 'node:fs'
import type { ProcessIdentity } from '../types.ts'

interface ProcessStat {
  state: string
  group: number
  /** Clock ticks between boot and start. */
  started: string
}

/** One line of /proc; null when there is no such process or no /proc. */
function readStat(pid: number | string): ProcessStat | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1')
    // The name in parentheses may hold anything; the fields count from behind it.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
    return { state: fields[0] ?? '', group: Number(fields[2]), started: fields[19] ?? '' }
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

/** Identity of a process of this machine; `started` is empty where /proc is missing. */
export function identify(pid: number): ProcessIdentity {
  const stat = readStat(pid)
  return { pid, started: stat ? `${readBootId()}/${stat.started}` : '' }
}

/** True while exactly this process lives (a zombie does not). */
export function isAlive(identity: ProcessIdentity): boolean {
  if (!HAS_PROC) return trySignal(identity.pid, 0)
  const stat = readStat(identity.pid)
  return stat !== null && stat.state !== 'Z' && `${readBootId()}/${stat.started}` === identity.started
}

/**
 * True while a process of the group that `leader` led lives. While a member exists the kernel gives
 * the group's number to no new process, so members without their leader are still the old group.
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

/** Signals the whole group; false when it is gone. */
export const signalGroup = (pid: number, signal: NodeJS.Signals): boolean => trySignal(-pid, signal)

function trySignal(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(pid, signal)
    return true
  } catch {
    return false
  }
}
