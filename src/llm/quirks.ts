import type { CallFailure } from './failure.ts'

/** Parameters that some models refuse. They are omitted when the quirks or a refusal say so. */
const PARAMETERS = ['temperature', 'reasoning_effort', 'tool_choice'] as const
export type Parameter = (typeof PARAMETERS)[number]

/** A method of a model's web search; see `search.ts`. */
export type SearchWay = 'chat' | 'responses' | 'plain' | 'openrouter' | 'groq' | 'conversations'

/** The deviations of a model from the usual chat completions. */
export interface Quirks {
  /** The name of the parameter that limits the length of the answer. */
  cap: 'max_tokens' | 'max_completion_tokens'
  unsupported: readonly Parameter[]
  /** Null when the model cannot search. */
  search: SearchWay | null
  /** True if the search tool takes a context size. */
  searchSize: boolean
  /** True if calls that the model wrote into its text are calls, because the server may have no parser for them. */
  writtenCalls: boolean
  /** Fields of a message and of its calls that must be sent back with the conversation. */
  echo: readonly ('reasoning_content' | 'reasoning_details' | 'extra_content')[]
  /** Matches the call ids that the provider accepts; other ids are replaced. */
  call_id?: RegExp
  /** The highest temperature that the model accepts; a higher configured one is lowered to it. */
  maxTemperature?: number
}

/** Completes quirks with the usual values. */
export const quirksOf = (own: Partial<Quirks> = {}): Quirks => ({
  cap: 'max_tokens',
  unsupported: [],
  search: null,
  searchSize: true,
  writtenCalls: true,
  echo: [],
  ...own,
})

const COMPLAINT = /unsupported|not support|deprecat|unrecogni[sz]ed|unknown|not permitted|not allowed|only the default/i
/** The names that a parameter has in other wire forms, as their errors mention them. */
const OTHER_NAMES: Record<string, RegExp> = {
  reasoning_effort: /\b(reasoning_effort|effort|thinking|thinking_?[lL]evel|output_config)\b/,
}

/**
 * Learns from a refusal by status 400 or 422. A refused parameter is omitted from now on, and a refused `max_tokens` is
 * sent as `max_completion_tokens`. Returns true if something was learnt, so that repeating the call may help.
 */
export function learnUnsupported(
  deployment: { quirks: Quirks; unsupported: Set<Parameter> },
  failure: CallFailure,
  sent: object,
): boolean {
  if ((failure.status !== 400 && failure.status !== 422) || !COMPLAINT.test(failure.message)) return false
  const complains = (name: string) =>
    failure.parameter === null
      ? (OTHER_NAMES[name]?.test(failure.message) ?? new RegExp(`\\b${name}\\b`).test(failure.message))
      : failure.parameter === name
  const { quirks, unsupported } = deployment
  if (quirks.cap === 'max_tokens' && complains('max_tokens')) {
    quirks.cap = 'max_completion_tokens'
    return true
  }
  const refused = PARAMETERS.find((name) => name in sent && complains(name))
  if (refused) unsupported.add(refused)
  return refused !== undefined
}
