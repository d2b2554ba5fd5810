import type { LlmConfig } from '../../config/types.ts'
import { PlatformError } from '../base/errors.ts'
import type { Fetch } from '../base/http.ts'
import type { Logger } from '../base/log.ts'
import { parseCompletion } from './answer.ts'
import { callModel } from './call.ts'
import type { LlmTools } from './connect/types.ts'
import { chatBody } from './request-body.ts'
import { createRouter } from './router.ts'
import { SEARCH_WAYS } from './search.ts'
import type { LlmClient, ModelRole } from './types.ts'

export interface LlmDeps {
  fetch: Fetch
  log: Logger
  /** First wait between attempts, doubled each time; default 1000. */
  backoff_ms?: number
  /** For files of credentials; default is that there are none. */
  read_file?: LlmTools['read_file']
  /** Milliseconds; default is the clock. */
  now?: () => number
}

export function createLlmClient(config: LlmConfig, deps: LlmDeps): LlmClient {
  const tools: LlmTools = {
    fetch: deps.fetch,
    log: deps.log,
    read_file: deps.read_file ?? (async () => null),
    now: deps.now ?? Date.now,
  }
  const routeTo = createRouter(config, tools)
  const modelOf = (role: ModelRole) => (role === 'main' ? config.model : config.small_model)
  const settings = { max_output_tokens: config.max_output_tokens, temperature: config.temperature }
  const common = { timeoutS: config.timeout, backoff_ms: deps.backoff_ms ?? 1000, log: deps.log }
  return {
    complete: async (request) =>
      callModel({
        ...common,
        route: routeTo(modelOf(request.role)),
        path: '/chat/completions',
        body: (deployment) => chatBody(deployment, request, settings),
        parse: (answer, deployment) => parseCompletion(deployment, answer),
        signal: request.signal,
      }),
    search: async (query, options = {}) => {
      const route = routeTo(config.web_search_model || modelOf(options.role ?? 'small'))
      const deployment = route.next()
      if (!deployment.quirks.search) return null
      const way = SEARCH_WAYS[deployment.quirks.search]
      const result = await callModel({
        ...common,
        // Entries of one name may search in different ways.
        route: { ...route, next: () => deployment },
        path: way.path,
        body: (target) => way.body(target, query, settings),
        parse: (answer, target) => way.parse(answer, target),
        signal: options.signal,
      }).catch((error: unknown) => {
        if (!(error instanceof PlatformError) || !NOT_OFFERED.includes(error.status)) throw error
        // A server of one's own that speaks no more than chat completions; it is not asked again.
        deployment.quirks.search = null
        return null
      })
      if (result) options.observe?.({ model: deployment.model, usage: result.usage })
      return result?.text ?? null
    },
  }
}

const NOT_OFFERED = [404, 405, 501]
