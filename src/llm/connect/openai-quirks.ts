import type { Quirks } from '../quirks.ts'

const REASONING = /^(o\d|gpt-[5-9])/
const SEARCHING = /-search-(preview|api)/
const RESPONSES_SEARCH = /^(gpt-4o|gpt-4\.1|gpt-[5-9]|o[3-9])/

export function openaiQuirks(id: string): Partial<Quirks> {
  if (SEARCHING.test(id)) return { search: 'chat', unsupported: ['temperature', 'reasoning_effort'] }
  const search = RESPONSES_SEARCH.test(id) ? 'responses' : null
  if (REASONING.test(id)) return { cap: 'max_completion_tokens', unsupported: ['temperature'], search }
  return { unsupported: ['reasoning_effort'], search }
}
