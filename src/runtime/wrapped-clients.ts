import type { LlmClient } from '../llm/inference.ts'
import type { PlatformMetrics } from '../observe/metrics.ts'
import type { IacClient } from '../services/iac/contract.ts'

/** Creates a client that is loaded on its first call, for a process that rarely calls a model: the library is large. */
export function createLazyLlmClient(load: () => Promise<LlmClient>): LlmClient {
  let loading: Promise<LlmClient> | null = null
  const client = () => {
    loading ??= load()
    return loading
  }
  return {
    complete: async (request) => (await client()).complete(request),
    search: async (query, options) => (await client()).search(query, options),
  }
}

/** Wraps a client to count the tokens of each answer and search. */
export const countTokens = (llm: LlmClient, metrics: PlatformMetrics): LlmClient => ({
  ...llm,
  complete: async (request) => {
    const answer = await llm.complete(request)
    metrics.countTokens(request.role, answer.usage)
    return answer
  },
  search: (query, options) =>
    llm.search(query, {
      ...options,
      observe: (used) => {
        metrics.countTokens(options?.role ?? 'small', used.usage)
        options?.observe?.(used)
      },
    }),
})

/** Wraps a client to measure the time of each kind of job, including failed jobs. */
export const countEngineTime = (iac: IacClient, metrics: PlatformMetrics): IacClient => ({
  ...iac,
  run: async (kind, body, options) => {
    const started = performance.now()
    try {
      return await iac.run(kind, body, options)
    } finally {
      metrics.countEngineTime(kind, (performance.now() - started) / 1000)
    }
  },
})
