import type { IacServiceConfig } from '../../../config/types.ts'
import { gatewayTimeout, PlatformError } from '../../base/errors.ts'
import { delay, OutboundError, type OutboundRequest, type OutboundResponse } from '../../base/http.ts'
import type { Logger } from '../../base/log.ts'
import { readAnswer, transportFault, unexpectedAnswer } from '../ask.ts'
import { type EngineResult, type JobAnswer, JobSchema } from './contract.ts'

/** Access to the iac service. `call` adds the service's address and token to a request. */
export interface IacAccess {
  config: IacServiceConfig
  log: Logger
  call: (path: string, request: Partial<OutboundRequest>) => Promise<OutboundResponse>
}
interface WaitOptions {
  signal?: AbortSignal
  resubmit?: () => Promise<string>
}
type Poll = { kind: 'job'; job: JobAnswer } | { kind: 'lost' } | { kind: 'missed' }

/** Largest response to a poll, below the longest string of the JavaScript engine. */
const MAX_ANSWER_BYTES = 384 * 1024 * 1024
const MAX_HELD_SECONDS = 60

/**
 * Polls until the job has ended or `job_timeout` has passed. Each poll asks the service to respond only when the job
 * has ended or `job_poll_interval` has passed. A service that responds at once is polled again after the interval.
 */
export async function waitForJob(access: IacAccess, jobId: string, options: WaitOptions): Promise<EngineResult> {
  const { config, log } = access
  const deadline = performance.now() + config.job_timeout * 1000
  let resubmit = options.resubmit
  let current = jobId
  for (;;) {
    const started = performance.now()
    if (started >= deadline) throw gatewayTimeout(`IaC job ${current} did not finish within ${config.job_timeout}s.`)
    const poll = await pollOnce(access, current, deadline - started, options.signal)
    if (poll.kind === 'job' && poll.job.status === 'succeeded') return poll.job.result
    const interrupted = poll.kind === 'job' && poll.job.status === 'failed' && poll.job.error.status === 503
    if (resubmit && (poll.kind === 'lost' || interrupted)) {
      log.warn('iac job lost, submitting it again', { job_id: current })
      current = await resubmit()
      resubmit = undefined
      continue
    }
    if (poll.kind === 'lost')
      throw new PlatformError('IacJobLost', 502, `IaC job ${current} was lost by the iac service.`)
    if (poll.kind === 'job' && poll.job.status === 'failed') throw jobFailure(poll.job.error)
    const next = Math.min(started + config.job_poll_interval * 1000, deadline)
    await delay(Math.max(0, Math.ceil(next - performance.now())), options.signal)
  }
}

function jobFailure(error: Extract<JobAnswer, { status: 'failed' }>['error']): PlatformError {
  const status = error.status !== undefined && error.status >= 400 && error.status <= 599 ? error.status : 502
  return new PlatformError('IacJobFailed', status, error.detail || error.title || 'The IaC job failed.')
}

/** Sends one poll. `lost`: the service does not know the job. `missed`: a temporary fault, so poll again. */
async function pollOnce(access: IacAccess, jobId: string, remainingMs: number, signal?: AbortSignal): Promise<Poll> {
  const { config, log, call } = access
  const held = Math.min(
    MAX_HELD_SECONDS,
    Math.max(1, Math.ceil(Math.min(config.job_poll_interval, remainingMs / 1000))),
  )
  const request: Partial<OutboundRequest> = {
    headers: { prefer: `wait=${held}` },
    timeoutMs: Math.ceil(Math.min((held + config.timeout) * 1000, remainingMs)),
    maxBytes: MAX_ANSWER_BYTES,
    signal,
  }
  let response: OutboundResponse
  try {
    response = await call(`/v1/jobs/${jobId}`, request)
  } catch (error) {
    if (!(error instanceof OutboundError) || error.kind === 'aborted' || error.kind === 'body')
      throw transportFault('iac', error)
    log.warn('iac job not reached', { job_id: jobId, error })
    return { kind: 'missed' }
  }
  if (response.status === 404) return { kind: 'lost' }
  if (response.status === 429 || response.status >= 500) {
    log.warn('iac job not answered', { job_id: jobId, status: response.status })
    return { kind: 'missed' }
  }
  if (response.status !== 200) throw unexpectedAnswer('iac', `HTTP ${response.status} to a poll`)
  return { kind: 'job', job: readAnswer('iac', response, JobSchema, 'a job') }
}
