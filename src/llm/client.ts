import type { LlmConfig } from '../../config/types.ts'
import { PlatformError } from '../base/errors.ts'
import { delay } from '../base/http.ts'
import type { Logger } from '../base/log.ts'
import { parseCompletion } from './answer.ts'
import { type AttemptOptions, attemptCall } from './attempt.ts'
import type { LlmTools } from './connect/connection.ts'
import { createRouter, type Deployment, loadLibrary, type Route } from './deployments.ts'
import { CallFailure, inferenceError, redact } from './failure.ts'
import { addUsage, type LlmClient, type ModelRole, type Usage } from './inference.ts'
import { chatBody } from './request-body.ts'
import { SEARCH_WAYS } from './search.ts'

/** By default there are no credential files, and the time is that of the system. */
interface LlmDeps extends Pick<LlmTools, 'fetch' | 'log'>, Partial<Pick<LlmTools, 'readFile' | 'now'>> {
  /** Milliseconds before the second attempt, doubled for each further one. Default 1000. */
  backoffMs?: number
}

/** Half of a configured context window is left to the messages: a server refuses an answer that has no room in it. */
const answerTokens = ({ max_output_tokens, context_tokens }: LlmConfig): number =>
  context_tokens > 0 ? Math.min(max_output_tokens, Math.floor(context_tokens / 2)) : max_output_tokens

/** Creates the client for the configured models. A deployment is connected on its first call. */
export function createLlmClient(config: LlmConfig, { backoffMs = 1000, ...deps }: LlmDeps): LlmClient {
  const routeTo = createRouter(config, { readFile: async () => null, now: Date.now, ...deps })
  const modelOf = (role: ModelRole) => (role === 'main' ? config.model : config.small_model)
  const searchRoute = (role: ModelRole) => routeTo(config.web_search_model || modelOf(role))
  const settings = { max_output_tokens: answerTokens(config), temperature: config.temperature }
  const limits = { timeoutS: config.timeout, idleMs: config.stream_idle_timeout * 1000 }
  const common = { ...limits, backoffMs, log: deps.log }
  return {
    warm: async () => void (await loadLibrary()),
    complete: async (request) =>
      callModel({
        ...common,
        route: routeTo(modelOf(request.role)),
        path: '/chat/completions',
        streams: config.stream,
        body: (deployment, stream) => chatBody(deployment, request, { ...settings, stream }),
        parse: (answer, deployment) => parseCompletion(deployment, answer, request.tools),
        signal: request.signal,
        progress: request.progress,
      }),
    canSearch: (role) => {
      try {
        return searchRoute(role)
          .all()
          .some(({ quirks }) => quirks.search !== null)
      } catch {
        // An unconfigured model cannot search either; its first call throws the reason.
        return false
      }
    },
    search: async (query, options = {}) => {
      const route = searchRoute(options.role ?? 'small')
      const deployment = nextSearching(route)
      if (!deployment?.quirks.search) return null
      const way = SEARCH_WAYS[deployment.quirks.search]
      const result = await callModel({
        ...common,
        // All attempts use this entry, because another entry of the name may search in another way.
        route: { ...route, next: () => deployment },
        path: way.path,
        streams: false,
        body: (target) => way.body(target, query, { ...settings, stream: false }),
        parse: (answer, target) => way.parse(answer, target),
        signal: options.signal,
      }).catch((error: unknown) => {
        if (!(error instanceof PlatformError) || !NOT_OFFERED.includes(error.status)) throw error
        // The server has no search. A self-hosted one often offers chat completions only, so it is not tried again.
        deployment.quirks.search = null
        return null
      })
      if (result) options.observe?.({ model: deployment.model, usage: result.usage })
      return result?.text ?? null
    },
  }
}

/** Returns the next entry of a route that can search; entries of one name may be models of different providers. */
function nextSearching(route: Route): Deployment | null {
  for (let left = route.all().length; left > 0; left--) {
    const deployment = route.next()
    if (deployment.quirks.search) return deployment
  }
  return null
}

/** Statuses of a server that does not offer a route or method. */
const NOT_OFFERED = [404, 405, 501]

const ATTEMPTS = 4
/** The longest wait between two attempts; a longer `Retry-After` is cut to this. */
const MAX_WAIT_MS = 300_000

interface CallOptions<Answer> extends AttemptOptions<Answer> {
  /** Chooses the deployment of each attempt, so that all entries of one model name share the four attempts. */
  route: Route
  /** Whether the answer is asked for as a stream. */
  streams: boolean
  backoffMs: number
}

/**
 * Calls a model, with at most four attempts that each have the whole timeout. If a provider requests a wait, the next
 * attempt on it waits that long; otherwise the waits double. With `backoffMs` at its default of 1000 the waits are 1, 2
 * and 4 s. After a failure of which the stream may be the cause, the answer is asked for as a whole. Throws
 * `PlatformError` with code `InferenceCallAPIError`; `OutboundError` of kind `aborted`.
 */
async function callModel<Answer extends { usage: Usage }>(options: CallOptions<Answer>): Promise<Answer> {
  const { log, signal, route } = options
  let deployment = route.next()
  /** The tokens of the answers that could not be used. */
  let wasted: Usage | null = null
  /** The deployment whose stream failed in this call, if any. */
  let broken: Deployment | null = null
  for (let attempt = 1; ; attempt++) {
    const stream = options.streams && broken === null
    try {
      const answer = await attemptCall(deployment, options, stream)
      route.markWorked(deployment)
      countBroken(deployment, broken, log)
      return wasted ? { ...answer, usage: addUsage(wasted, answer.usage) } : answer
    } catch (error) {
      if (!(error instanceof CallFailure)) throw error
      options.progress?.restart()
      if (stream && mayComeOfStream(error)) broken = deployment
      if (error.usage) wasted = wasted ? addUsage(wasted, error.usage) : error.usage
      const { model, secrets } = deployment
      const requestedWaitMs = error.wait_ms === null ? null : Math.min(error.wait_ms, MAX_WAIT_MS)
      if (error.retryable) route.markFailed(deployment, requestedWaitMs)
      const failed = deployment
      const mayRepeat = error.retryable && attempt < ATTEMPTS
      if (mayRepeat) deployment = route.next()
      if (!mayRepeat || (deployment === failed && !error.again_here))
        throw inferenceError(model, error.message, error.status, secrets, { cause: error.cause, usage: wasted })
      const backoffMs = Math.min(options.backoffMs * 2 ** (attempt - 1), MAX_WAIT_MS)
      // Another entry need not wait for this one: it is called at once, or as soon as its own wait is over.
      const waitMs = (deployment === failed ? requestedWaitMs : route.remainingWaitMs(deployment)) ?? backoffMs
      log.warn('inference attempt failed', {
        model,
        attempt,
        status: error.status,
        reason: redact(error.message, secrets),
        wait_ms: waitMs,
      })
      await delay(waitMs, signal)
    }
  }
}

/** Statuses of a server that is overloaded; they say nothing about streams. */
const OVERLOADED = [503, 529]

const mayComeOfStream = ({ in_stream, status }: CallFailure): boolean =>
  in_stream || (status >= 500 && !OVERLOADED.includes(status))

/** Calls in a row after whose broken stream the whole answer came, before a deployment is asked for no more streams. */
const MAX_BROKEN = 3

function countBroken(deployment: Deployment, broken: Deployment | null, log: Logger): void {
  if (broken !== deployment) deployment.brokenStreams = 0
  else if (++deployment.brokenStreams === MAX_BROKEN) {
    deployment.unsupported.add('stream')
    log.warn('the streams of this model break, so its answers are asked for as a whole', { model: deployment.model })
  }
}
