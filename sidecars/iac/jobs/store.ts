import { randomUUID } from 'node:crypto'
import { renameSync, writeFileSync } from 'node:fs'
import { mkdir, readdir, readFile, rm } from 'node:fs/promises'
import { STATUS_CODES } from 'node:http'
import { join } from 'node:path'
import { problem } from '../../shared/http.ts'
import type { OutputFiles } from '../output/files.ts'
import { CANCELLED, CANCELLED_EARLY, JobFault, type JobKind, type JobRecord, SHUT_DOWN } from '../types.ts'

export type JobStore = Awaited<ReturnType<typeof openJobStore>>

/** Opens the store: job records and their output as files of one folder, which only this user can read. */
export async function openJobStore(folder: string) {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const file = (jobId: string, ending: string) => join(folder, `${jobId}.${ending}`)
  return {
    /** Saves synchronously, so that no crash can come between the start of an engine and its entry here. */
    save(record: JobRecord): void {
      const temporary = file(record.job_id, `${randomUUID()}.tmp`)
      writeFileSync(temporary, JSON.stringify(record), { mode: 0o600 })
      renameSync(temporary, file(record.job_id, 'json'))
    },
    async loadAll(): Promise<JobRecord[]> {
      const names = await readdir(folder)
      const records: JobRecord[] = []
      for (const name of names.filter((each) => each.endsWith('.json'))) {
        const record = await readRecord(join(folder, name))
        if (record) records.push(record)
      }
      const known = new Set(records.map((record) => record.job_id))
      const stale = names.filter((name) => name.endsWith('.tmp') || !known.has(name.slice(0, name.indexOf('.'))))
      await Promise.all(stale.map((name) => rm(join(folder, name), { force: true })))
      return records
    },
    async remove(jobId: string): Promise<void> {
      await Promise.all(['json', 'stdout', 'stderr'].map((ending) => rm(file(jobId, ending), { force: true })))
    },
    output: (jobId: string): OutputFiles => ({ stdout: file(jobId, 'stdout'), stderr: file(jobId, 'stderr') }),
  }
}

async function readRecord(path: string): Promise<JobRecord | null> {
  try {
    const record: JobRecord = JSON.parse(await readFile(path, 'utf8'))
    return typeof record.job_id === 'string' && typeof record.status === 'string' ? record : null
  } catch {
    return null
  }
}

export const isTerminal = (record: JobRecord) => record.status === 'succeeded' || record.status === 'failed'

/** Returns the fields of a failed job, as its record and the contract have them. */
export const failureOf = (fault: JobFault): Partial<JobRecord> => ({
  status: 'failed',
  exit_code: null,
  error: problem(fault.status, STATUS_CODES[fault.status] ?? 'Internal Server Error', fault.message),
})

/** Returns the fault of a job that ended with its service. Callers resubmit one that was not cancelled. */
export function lostWith({ cancelled, process }: JobRecord): JobFault {
  if (!cancelled) return new JobFault(503, SHUT_DOWN)
  return new JobFault(409, process ? CANCELLED : CANCELLED_EARLY)
}

export const newRecord = (kind: JobKind, workspacePath: string, created: Date): JobRecord => ({
  job_id: randomUUID(),
  kind,
  workspace_path: workspacePath,
  status: 'queued',
  created_at: created.toISOString(),
  started_at: null,
  finished_at: null,
  exit_code: null,
  error: null,
  process: null,
})
