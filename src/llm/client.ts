import type { LlmConfig } from '../../config/types.ts'
import { PlatformError } from '../errors.ts'
import type { Fetch } from '../http/outbound.ts'
import type { Logger } from '../log/logger.ts'
import { call } from './call.ts'
import { parseCompletion } from './parse-answer.ts'
import { parseResponsesText } from './parse-responses.ts'
import { chatBody, responsesSearchBody, searchBody } from './request-body.ts'
import { createRouter } from './router.ts'
import type { LlmClient, ModelRole } from './types.ts'

/**
 * @param deps.backoff_ms first wait between attempts, doubled each time; default 1000
 */
export function createLlmClient(config: LlmConfig, deps: { fetch: Fetch; log: Logger; backoff_ms?: number }): LlmClient {
  const route = createRouter(config, deps.fetch)
  const modelOf = (role: ModelRole) => (role === 'main' ? config.model : config.small_model)
  const settings = { max_output_tokens: config.max_output_tokens, temperature: config.temperature }
  const common = { timeout_s: config.timeout, backoff_ms: deps.backoff_ms ?? 1000, log: deps.log }
  return {
    complete: (request) =>
      call({
        ...common,
        next: () => route(modelOf(request.role)),
        path: '/chat/completions',
        body: (deployment) => chatBody(deployment, request, settings),
        parse: (answer, deployment) => parseCompletion(deployment.model, answer),
        signal: request.signal,
      }),
    search: async (query, options = {}) => {
      const name = config.web_search_model || modelOf(options.role ?? 'small')
      const deployment = route(name)
      if (!deployment.quirks.search) return null
      const through_chat = deployment.quirks.search === 'chat'
      return call({
        ...common,
        next: () => deployment,
        path: through_chat ? '/chat/completions' : '/responses',
        body: (target) => (through_chat ? searchBody(target, query, settings) : responsesSearchBody(target, query, settings)),
        parse: (answer, target) => (through_chat ? parseCompletion(target.model, answer).text : parseResponsesText(answer)),
        signal: options.signal,
      }).catch((error: unknown) => {
        if (!(error instanceof PlatformError) || !NOT_OFFERED.includes(error.status)) throw error
        // A server of one's own that speaks no more than chat completions; it is not asked again.
        deployment.quirks.search = null
        return null
      })
    },
  }
}

const NOT_OFFERED = [404, 405, 501]
