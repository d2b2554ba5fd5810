import type { Usage } from '../llm/types.ts'

export const noUsage = (): Usage => ({ input_tokens: 0, cached_tokens: 0, output_tokens: 0 })

export const addUsage = (a: Usage, b: Usage): Usage => ({
  input_tokens: a.input_tokens + b.input_tokens,
  cached_tokens: a.cached_tokens + b.cached_tokens,
  output_tokens: a.output_tokens + b.output_tokens,
  ...((a.cache_write_tokens ?? b.cache_write_tokens) !== undefined && {
    cache_write_tokens: (a.cache_write_tokens ?? 0) + (b.cache_write_tokens ?? 0),
  }),
})
