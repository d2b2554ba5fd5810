import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'

interface JobRecord {
  workspace_path: string
  created_at: string
  finished_at: string | null
}

/**
 * Seconds during which engine jobs of the session were queued or ran, from the records that the iac
 * sidecar of the stack keeps; overlaps count once. Null when there are none.
 */
export async function engineSeconds(folder: string, session_id: string): Promise<number | null> {
  const jobs = join(folder, 'iac', 'jobs')
  const names = await readdir(jobs).catch(() => [])
  const records = await Promise.all(names.filter((name) => name.endsWith('.json')).map((name) => readRecord(join(jobs, name))))
  const intervals = records
    .filter((record) => record?.workspace_path.includes(session_id))
    .map((record) => [Date.parse(record?.created_at ?? ''), Date.parse(record?.finished_at ?? '')] as const)
    .filter((interval) => interval.every(Number.isFinite))
    .sort((a, b) => a[0] - b[0])
  if (intervals.length === 0) return null
  let total = 0
  let reached = 0
  for (const [start, end] of intervals) {
    total += Math.max(0, end - Math.max(start, reached))
    reached = Math.max(reached, end)
  }
  return total / 1000
}

async function readRecord(path: string): Promise<JobRecord | null> {
  try {
    return JSON.parse(await readFile(path, 'utf8')) as JobRecord
  } catch {
    return null
  }
}
