import type { CallFailure } from './call.ts'
import type { Deployment } from './deployments.ts'

/** Parameters that some models refuse; they are left out where the table or an answer says so. */
export type Parameter = 'temperature' | 'reasoning_effort' | 'tool_choice'

/** How a model searches the web; see `search.ts`. */
export type SearchWay = 'chat' | 'responses' | 'plain' | 'openrouter' | 'groq' | 'conversations'

export interface Quirks {
  /** Name of the completion cap. */
  cap: 'max_tokens' | 'max_completion_tokens'
  unsupported: readonly Parameter[]
  /** Null: not at all. */
  search: SearchWay | null
  /** Whether the native search parameter has a context size. */
  searchSize: boolean
  /** Finish reasons of the provider by the usual ones. */
  finish: Readonly<Record<string, string>>
  /** Fields of an answer's message and of its calls that have to come back with it. */
  echo: readonly ('reasoning_content' | 'reasoning_details' | 'extra_content')[]
  /** Ids of calls that the provider accepts; others are replaced. */
  call_id?: RegExp
  /** Highest temperature; default is whatever was configured. */
  maxTemperature?: number
}

export const quirksOf = (own: Partial<Quirks> = {}): Quirks => ({
  cap: 'max_tokens',
  unsupported: [],
  search: null,
  searchSize: true,
  finish: {},
  echo: [],
  ...own,
})

const COMPLAINT = /unsupported|not support|deprecat|unrecogni[sz]ed|unknown|not permitted|not allowed|only the default/i
const DROPPABLE: readonly Parameter[] = ['temperature', 'reasoning_effort', 'tool_choice']
/** Other names of a parameter in the forms of other providers. */
const OTHER_NAMES: Record<string, RegExp> = {
  reasoning_effort: /\b(reasoning_effort|effort|thinking|thinking_?[lL]evel|output_config)\b/,
}

/**
 * Learns from a refusal: a parameter that the model does not take is left out from now on, and the cap
 * goes by its other name. Answers whether the call is worth repeating.
 */
export function learnUnsupported(deployment: Deployment, failure: CallFailure, sent: object): boolean {
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
  const refused = DROPPABLE.find((name) => name in sent && complains(name))
  if (refused) unsupported.add(refused)
  return refused !== undefined
}
