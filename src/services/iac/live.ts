import * as v from 'valibot'
import { delay } from '../../base/http.ts'
import { isTransient, readAnnouncement } from './additions.ts'
import { CancelledSchema, FollowedOutputSchema, parseJsonBody } from './answers.ts'
import type { IacClient } from './types.ts'
import type { IacAccess } from './wait-for-job.ts'

/** What the service announces is asked for again after this time: after a restart it may be another version. */
const ANNOUNCED_MS = 60_000
const CANCEL_LIMIT_MS = 5_000
/** Pauses before the second and the third attempt to reach the service with a cancellation. */
const CANCEL_PAUSES_MS = [250, 1_000]
/** Two pieces of 256 KiB, of which each byte may be escaped as in JSON. */
const MAX_OUTPUT_BYTES = 4 * 1024 * 1024

/** Client of what can be done with a job while it runs. Whatever goes wrong is logged, and nothing is thrown. */
export function createLiveJobs(access: IacAccess): Required<Pick<IacClient, 'cancel' | 'outputFrom'>> {
  const { call, config, log } = access
  let announced: Promise<ReadonlySet<string>> | null = null
  let announcedUntil = 0
  const offers = async (addition: string): Promise<boolean> => {
    if (announced === null || performance.now() > announcedUntil) {
      announcedUntil = performance.now() + ANNOUNCED_MS
      // Not bound to the signal of one caller, because others wait for the same answer.
      announced = readAnnouncement(access)
      announced.catch(() => {
        announced = null
      })
    }
    return (await announced).has(addition)
  }
  const cancelOnce = async (jobId: string, signal: AbortSignal | undefined): Promise<boolean> => {
    if (!(await offers('cancel'))) return false
    const timeoutMs = Math.min(config.timeout * 1000, CANCEL_LIMIT_MS)
    const response = await call(`/v1/jobs/${jobId}`, { method: 'DELETE', timeoutMs, ...(signal && { signal }) })
    if (isTransient(response)) throw new Error(`HTTP ${response.status}`)
    return response.status === 202 && v.is(CancelledSchema, parseJsonBody(response))
  }
  return {
    cancel: async (jobId, signal) => {
      for (const pause of [...CANCEL_PAUSES_MS, null]) {
        try {
          return await cancelOnce(jobId, signal)
        } catch (error) {
          if (signal?.aborted) return false
          log.warn('an iac job could not be cancelled yet', { job_id: jobId, error })
          if (pause !== null) await delay(pause, signal).catch(() => undefined)
        }
      }
      return false
    },
    outputFrom: async (jobId, from, { waitSeconds, signal }) => {
      try {
        if (!(await offers('output_from'))) return null
        const query = `stdout_from=${from.stdout}&stderr_from=${from.stderr}`
        const response = await call(`/v1/jobs/${jobId}/output?${query}`, {
          headers: { prefer: `wait=${waitSeconds}` },
          timeoutMs: (waitSeconds + config.timeout) * 1000,
          maxBytes: MAX_OUTPUT_BYTES,
          ...(signal && { signal }),
        })
        if (isTransient(response)) return 'missed'
        const parsed = response.status === 200 ? v.safeParse(FollowedOutputSchema, parseJsonBody(response)) : null
        return parsed?.success ? parsed.output : null
      } catch (error) {
        if (signal?.aborted) return null
        log.info('the output of a running iac job could not be read', { job_id: jobId, error })
        return 'missed'
      }
    },
  }
}
