import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import {
  identify,
  isAlive,
  isGroupAlive,
  type ProcessIdentity,
  signalGroup,
} from '../../src/runtime/process-identity.ts'

export const PROJECT_ROOT = fileURLToPath(new URL('../../', import.meta.url))

/** Returns the data folder of a command. Git ignores everything below `.platform`. */
export const dataFolder = (given?: string, otherwise = '.platform'): string =>
  resolve(PROJECT_ROOT, given?.trim() || otherwise)

type ProcessRecord = ProcessIdentity & { name: string }

/** The engine, and the isolation of its commands: `bubblewrap` or `none`, `isolated` or `host`. */
export interface StackEngine {
  name: string
  version: string
  sandbox: string
  network: string
}

/** The process that runs the stack of a folder, and the processes that it has started. */
export interface StackRecord {
  owner: ProcessRecord
  children: ProcessRecord[]
  /** Null until everything is ready. */
  ready: ReadyStack | null
}
export interface ReadyStack {
  url: string
  git_host: { url: string; repositories: string[] } | null
  model: { name: string; scripted: boolean }
  engine: StackEngine
  /** True if the embedded store holds the engine state of the samples. */
  sample_state: boolean
  /** True if imports list the resources of the sample account. */
  sample_account: boolean
  /** Address at which the spans of rounds can be read. Null if the operator's own collector has them. */
  collector_url: string | null
}

const recordFile = (folder: string) => join(folder, 'stack.json')

/** Reads the record of a folder; null if there is none or it cannot be read. */
export function readRecord(folder: string): StackRecord | null {
  try {
    return JSON.parse(readFileSync(recordFile(folder), 'utf8')) as StackRecord
  } catch {
    return null
  }
}

/** Finds the stack that runs on a folder, ready or not; null if there is none. */
export function runningStack(folder: string): StackRecord | null {
  const record = readRecord(folder)
  return record && isAlive(record.owner) ? record : null
}

export class FolderInUse extends Error {}

export type Ownership = Awaited<ReturnType<typeof takeFolder>>

/** Claims the folder for this process, and ends processes of a killed predecessor. Errors: `FolderInUse`. */
export async function takeFolder(folder: string, say: (line: string) => void) {
  mkdirSync(folder, { recursive: true, mode: 0o755 })
  const record: StackRecord = { owner: { name: 'launcher', ...identify(process.pid) }, children: [], ready: null }
  for (let attempt = 0; !create(folder, record); attempt++) {
    const holder = readRecord(folder)
    if (holder && isAlive(holder.owner))
      throw new FolderInUse(
        `The stack already runs on ${folder} (process ` +
          `${holder.owner.pid}${holder.ready ? `, ${holder.ready.url}` : ''}). Stop it first, or choose ` +
          'another folder with --data.',
      )
    if (attempt > 2)
      throw new FolderInUse(`The folder ${folder} cannot be taken: ${recordFile(folder)} keeps coming back.`)
    if (holder) await endLeftovers(holder.children, say)
    rmSync(recordFile(folder), { force: true })
  }
  const save = () => {
    writeFileSync(`${recordFile(folder)}.tmp`, JSON.stringify(record, null, 1), { mode: 0o600 })
    renameSync(`${recordFile(folder)}.tmp`, recordFile(folder))
  }
  return {
    addChild: (name: string, pid: number) => {
      record.children.push({ name, ...identify(pid) })
      save()
    },
    markReady: (ready: ReadyStack) => {
      record.ready = ready
      save()
    },
    release: () => rmSync(recordFile(folder), { force: true }),
  }
}

/** Creates the record. Returns false if the file exists, so it acts as a lock. */
function create(folder: string, record: StackRecord): boolean {
  try {
    writeFileSync(recordFile(folder), JSON.stringify(record), { flag: 'wx', mode: 0o600 })
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}

const PATIENCE_MS = 10_000

/** Ends recorded processes that are still alive, except where the number was reused. */
async function endLeftovers(children: readonly ProcessRecord[], say: (line: string) => void): Promise<void> {
  const left = children.filter((child) => isGroupAlive(child))
  if (left.length === 0) return
  say(`ending what an earlier run left behind: ${left.map((child) => `${child.name} (${child.pid})`).join(', ')}`)
  for (const child of left) signalGroup(child.pid, 'SIGTERM')
  for (const end = Date.now() + PATIENCE_MS; Date.now() < end && left.some((child) => isGroupAlive(child)); )
    await sleep(25)
  for (const child of left.filter((child) => isGroupAlive(child))) signalGroup(child.pid, 'SIGKILL')
}
