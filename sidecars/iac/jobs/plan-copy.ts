import { createHash } from 'node:crypto'

import { type FileHandle, mkdir, open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { openPlain } from '../limits/workspace.ts'
import type { JobRequest } from '../types.ts'

/** Limit of a plan file, in bytes, so that copies cannot fill the disk of the service. */
const MAX_BYTES = 1024 * 1024 * 1024

export interface TakenPlan {
  /** The request with the copy as its plan file; unchanged when it names no hash. */
  request: JobRequest
  /** Absolute path of the copy, which the engine must be able to read; null for none. */
  path: string | null
  /** The diagnostic for a plan file that is not the expected one; null when the job may run. */
  refusal: string | null
  remove(): Promise<void>
}

/** Returns the folder of the copies. Remains of a crash can be removed at any start. */
export const planFolder = (dataDir: string): string => join(dataDir, 'plans')

/** Copies an apply's plan file, so that it cannot change, and compares its hash. Without a hash nothing is copied. */
export async function takePlan(dataDir: string, jobId: string, request: JobRequest): Promise<TakenPlan> {
  const { plan_sha256, plan_file, workspace_path } = request
  const untouched = { request, path: null, refusal: null, remove: async () => {} }
  if (plan_file === undefined) return untouched
  // Any other name could be that of the code, the state or its keys.
  if (!plan_file.endsWith('.plan')) return { ...untouched, refusal: MISNAMED }
  if (plan_sha256 === undefined) return untouched
  const copy = join(planFolder(dataDir), jobId)
  const remove = () => rm(copy, { force: true })
  const source = await openPlain(join(workspace_path, plan_file))
  if (source === null) return { ...untouched, refusal: refusalText(plan_file, 'It is missing, or no regular file.') }
  try {
    await mkdir(planFolder(dataDir), { recursive: true, mode: 0o700 })
    const hash = await copyAndHash(source, copy)
    if (hash === plan_sha256) return { request: { ...request, plan_file: copy }, path: copy, refusal: null, remove }
    await remove()
    const reason =
      hash === null
        ? `It is larger than ${MAX_BYTES / 1024 ** 2} MiB.`
        : 'It is not the plan that was reviewed: its SHA-256 is another one than the request names.'
    return { ...untouched, refusal: refusalText(plan_file, reason) }
  } catch (error) {
    await remove()
    throw error
  } finally {
    await source.close()
  }
}

const MISNAMED =
  'Error: Plan file refused\n\nThe name of a plan file must end in ".plan". The worker takes it from ' +
  'paths.session_plan_filename.\n'

const refusalText = (planFile: string, reason: string): string =>
  `Error: Plan file refused\n\n  on ${planFile}\n\n${reason} Nothing was applied. ` +
  'Plan again, review the plan and apply it then.\n'

/** Copies the file and returns the SHA-256 of the copy; null when the source is too large. */
async function copyAndHash(source: FileHandle, path: string): Promise<string | null> {
  if ((await source.stat()).size > MAX_BYTES) return null
  const copy = await open(path, 'wx', 0o444)
  try {
    const hash = createHash('sha256')
    const buffer = Buffer.allocUnsafe(1024 * 1024)
    for (let size = 0; ; ) {
      const { bytesRead } = await source.read(buffer, 0, buffer.length, null)
      if (bytesRead === 0) return hash.digest('hex')
      // The file may still grow while it is read.
      size += bytesRead
      if (size > MAX_BYTES) return null
      const chunk = buffer.subarray(0, bytesRead)
      hash.update(chunk)
      await copy.writeFile(chunk)
    }
  } finally {
    await copy.close()
  }
}
