import type { LlmClient } from './types.ts'

/** A client that is made by its first call, for a process that rarely asks a model: the library is large. */
export function lateLlmClient(load: () => Promise<LlmClient>): LlmClient {
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
