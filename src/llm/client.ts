import type { LlmConfig } from '../../config/types.ts'
import { PlatformError } from '../base/errors.ts'
import type { Fetch } from '../base/http.ts'
import type { Logger } from '../base/log.ts'
import { parseCompletion } from './answer.ts'
import { callModel } from './call.ts'
import type { LlmTools } from './connect/connection.ts'
import type { Deployment } from './deployments.ts'
import type { LlmClient, ModelRole } from './inference.ts'
import { chatBody } from './request-body.ts'
import { createRouter, type Route } from './router.ts'
import { SEARCH_WAYS } from './search.ts'

export interface LlmDeps {
  fetch: Fetch
  log: Logger
  /** Milliseconds before the second attempt, doubled for each further one. Default 1000. */
  backoffMs?: number
  /** Reads credential files; by default there are none. */
  readFile?: LlmTools['readFile']
  /** The current time in milliseconds; default `Date.now`. */
  now?: () => number
}

/** Creates the client for the configured models. A deployment is connected on its first call. */
export function createLlmClient(config: LlmConfig, deps: LlmDeps): LlmClient {
  const tools: LlmTools = {
    fetch: deps.fetch,
    log: deps.log,
    readFile: deps.readFile ?? (async () => null),
    now: deps.now ?? Date.now,
  }
  const routeTo = createRouter(config, tools)
  const modelOf = (role: ModelRole) => (role === 'main' ? config.model : config.small_model)
  const searchRoute = (role: ModelRole) => routeTo(config.web_search_model || modelOf(role))
  const settings = { max_output_tokens: config.max_output_tokens, temperature: config.temperature }
  const common = { timeoutS: config.timeout, backoffMs: deps.backoffMs ?? 1000, log: deps.log }
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
        body: (target) => way.body(target, query, settings),
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
