import { OutboundError } from '../base/http.ts'
import type { Logger } from '../base/log.ts'
import { type Deployment, loadLibrary } from './deployments.ts'
import { CallFailure, redact } from './failure.ts'
import { type ReplyProgress, StoppedInference, type Usage } from './inference.ts'
import { learnUnsupported } from './quirks.ts'
import { createReplyWatch, type ReplyWatch, type WatchedBody } from './watch.ts'
import type { WatchedInit } from './wire/wire-fetch.ts'

export interface AttemptOptions<Answer> {
  path: string
  body: (deployment: Deployment, stream: boolean) => WatchedBody
  parse: (answer: unknown, deployment: Deployment) => Answer
  timeoutS: number
  /** Milliseconds that may pass between two pieces of a stream. */
  idleMs: number
  log: Logger
  signal?: AbortSignal
  progress?: ReplyProgress
}

/** Statuses of a server that has no stream at an address of its own, or does not allow it. */
const NO_STREAM = [403, 404, 405, 501]

/**
 * Makes one attempt at a call. Repeating it without something that the server refused does not count as an attempt.
 * Throws `CallFailure`; `OutboundError` of kind `aborted` when the caller aborted.
 */
export async function attemptCall<Answer extends { usage: Usage }>(
  deployment: Deployment,
  options: AttemptOptions<Answer>,
  stream: boolean,
): Promise<Answer> {
  for (let streams = stream; ; ) {
    const body = options.body(deployment, streams)
    try {
      const answer = await ask(deployment, body, options)
      // The same request was refused as a stream.
      if (stream && !streams) deployment.unsupported.add('stream')
      return answer
    } catch (error) {
      if (!(error instanceof CallFailure)) throw error
      if (body.stream && deployment.hasStreamAddress && NO_STREAM.includes(error.status)) streams = false
      else if (!learnUnsupported(deployment, error, body)) throw error
      options.log.info('a parameter is left out for this model', {
        model: deployment.model,
        reason: redact(error.message, deployment.secrets),
      })
    }
  }
}

async function ask<Answer extends { usage: Usage }>(
  deployment: Deployment,
  body: WatchedBody,
  options: AttemptOptions<Answer>,
): Promise<Answer> {
  if (!body.stream) return options.parse(await post(deployment, body, options), deployment)
  const watched = createReplyWatch(body, options)
  const parsed = options.parse(watched.finish(await post(deployment, body, options, watched)), deployment)
  const usage = watched.usage({ isWhole: true })
  return usage ? { ...parsed, usage } : parsed
}

/**
 * Sends one request. Throws the errors of the `openai` library as `CallFailure`, or as `OutboundError` of kind `aborted`
 * when the caller aborted. Both hold what a stream took until then.
 */
async function post(
  deployment: Deployment,
  body: object,
  { path, timeoutS, signal }: AttemptOptions<unknown>,
  watched?: ReplyWatch,
): Promise<unknown> {
  const [client, { APIConnectionError, APIConnectionTimeoutError }] = await Promise.all([
    deployment.client(),
    loadLibrary(),
  ])
  const timeout = AbortSignal.timeout(timeoutS * 1000)
  const fetchOptions: Omit<WatchedInit, 'body' | 'headers' | 'method' | 'signal'> = watched
    ? { watch: watched.watch }
    : {}
  try {
    return await client.post<unknown>(path, {
      body,
      signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
      fetchOptions,
    })
  } catch (error) {
    const usage = watched?.usage({ isWhole: false }) ?? null
    if (signal?.aborted) {
      const cause = { cause: error }
      if (usage) throw new StoppedInference({ model: deployment.model, usage }, cause)
      throw new OutboundError('aborted', 'the call was cancelled', cause)
    }
    const failure = (reason: string) =>
      new CallFailure(reason, 502, { retryable: true, cause: error, usage, in_stream: usage !== null })
    if (timeout.aborted || error instanceof APIConnectionTimeoutError) throw failure(`no answer within ${timeoutS} s`)
    if (error instanceof APIConnectionError && error.cause instanceof CallFailure)
      throw error.cause.in_stream ? error.cause.withUsage(usage) : error.cause
    throw failure(error instanceof SyntaxError ? 'the answer is not JSON' : 'the connection failed')
  }
}
