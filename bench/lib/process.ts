import { readFileSync } from 'node:fs'

/** Resident memory of a process in MB (10^6 bytes); Linux only, NaN elsewhere. */
export function residentMegabytes(pid: number): number {
  try {
    const pages = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
    return pages === undefined ? Number.NaN : (Number(pages) * 1024) / 1e6
  } catch {
    return Number.NaN
  }
}

/** Where the repository is checked out. */
export const projectRoot = new URL('../..', import.meta.url).pathname
