import { readFileSync } from 'node:fs'

/** Reads the resident memory of a process in MB (10^6 bytes); NaN if not on Linux. */
export function residentMegabytes(pid: number): number {
  try {
    const pages = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
    return pages === undefined ? Number.NaN : (Number(pages) * 1024) / 1e6
  } catch {
    return Number.NaN
  }
}

/** Reads the processor time that a process has used so far, in ms; NaN if not on Linux. */
export function processorTime(pid: number): number {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? []
    // User and system time in hundredths of a second, so times ten for milliseconds.
    return (Number(fields[11]) + Number(fields[12])) * 10
  } catch {
    return Number.NaN
  }
}

export const projectRoot = new URL('../..', import.meta.url).pathname
