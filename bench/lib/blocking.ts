import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

/** The longest block of the event loop by a piece of work, and its memory. */
export interface Blocking {
  /** Longest time in ms between two turns of the loop, including waits for a processor. */
  delay_ms: number
  /** Longest processor time in ms of this thread between two turns, caused by the work itself. */
  busy_ms: number
  /** Peak growth of resident memory in MB. */
  memory_mb: number
}

/** Runs `work` and measures the event loop of this process meanwhile. Errors: those of `work`. */
export async function measureBlocking(work: () => Promise<unknown>): Promise<Blocking> {
  globalThis.gc?.()
  await sleep(100)
  const before = residentMegabytes(process.pid)
  const found: Blocking = { delay_ms: 0, busy_ms: 0, memory_mb: 0 }
  let [turn, busy] = [performance.now(), busyTime()]
  const look = () => {
    const [now, busyNow] = [performance.now(), busyTime()]
    found.delay_ms = Math.max(found.delay_ms, now - turn - 1)
    found.busy_ms = Math.max(found.busy_ms, busyNow - busy)
    found.memory_mb = Math.max(found.memory_mb, residentMegabytes(process.pid) - before)
    turn = performance.now()
    busy = busyTime()
  }
  const timer = setInterval(look, 1)
  try {
    await sleep(5)
    await work()
    await sleep(5)
  } finally {
    clearInterval(timer)
  }
  look()
  return found
}

/** Returns the processor time of this thread in ms. */
export function busyTime(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

/** Reads the resident memory of a process in MB (10^6 bytes); NaN if not on Linux. */
export function residentMegabytes(pid: number): number {
  try {
    const kilobytes = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
    return kilobytes === undefined ? Number.NaN : (Number(kilobytes) * 1024) / 1e6
  } catch {
    return Number.NaN
  }
}
