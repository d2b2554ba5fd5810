import { gatewayTimeout } from '../../src/base/errors.ts'
import { delay } from '../../src/base/http.ts'
import type { BareRun } from './run.ts'
import { askToStop } from './stop-jobs.ts'

/** Stops a job after its time: some engines try without an end to reach what does not answer. */
export function startLimit(run: BareRun, limitS: number) {
  const end = new AbortController()
  let isOver = false
  const stop = async (jobId: string) => {
    await delay(limitS * 1000, end.signal)
    isOver = true
    await askToStop(run, jobId, end.signal)
  }
  return {
    began: (jobId: string) => void stop(jobId).catch(() => {}),
    ended: () => end.abort(),
    /** Errors: 504. */
    assertInTime: () => {
      if (isOver) throw gatewayTimeout(`the engine did not end within ${limitS}s and was stopped.`)
    },
  }
}
