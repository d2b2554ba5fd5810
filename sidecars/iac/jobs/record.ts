import { randomUUID } from 'node:crypto'
import { problem } from '../../shared/problem.ts'
import { CANCELLED, CANCELLED_EARLY, JobFault, type JobKind, type JobRecord, SHUT_DOWN } from '../types.ts'

export const isTerminal = (record: JobRecord) => record.status === 'succeeded' || record.status === 'failed'

const PHRASES: Record<number, string> = {
  409: 'Conflict',
  500: 'Internal Server Error',
  503: 'Service Unavailable',
  504: 'Gateway Timeout',
}

/** Returns the fields of a failed job, as its record and the contract have them. */
export const failureOf = (fault: JobFault): Partial<JobRecord> => ({
  status: 'failed',
  exit_code: null,
  error: problem(fault.status, PHRASES[fault.status] ?? 'Internal Server Error', fault.message),
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
