import type { LlmClient } from '../llm/types.ts'
import type { IacClient } from '../sidecar-clients/iac/types.ts'
import type { PlatformMetrics } from './platform-metrics.ts'

/** The same client; tokens of each answer and each search are counted. */
export const countTokens = (llm: LlmClient, metrics: PlatformMetrics): LlmClient => ({
  ...llm,
  complete: async (request) => {
    const answer = await llm.complete(request)
    metrics.tokens(request.role, answer.usage)
    return answer
  },
  search: (query, options) =>
    llm.search(query, {
      ...options,
      observe: (used) => {
        metrics.tokens(options?.role ?? 'small', used.usage)
        options?.observe?.(used)
      },
    }),
})

/** The same client; time spent on each kind of job is counted, failed ones included. */
export const countEngineTime = (iac: IacClient, metrics: PlatformMetrics): IacClient => ({
  ...iac,
  run: async (kind, body, options) => {
    const started = performance.now()
    try {
      return await iac.run(kind, body, options)
    } finally {
      metrics.engine(kind, (performance.now() - started) / 1000)
    }
  },
})
