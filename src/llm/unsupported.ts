import type { CallFailure } from './call-failure.ts'
import type { Deployment } from './deployments.ts'
import type { Parameter } from './quirks.ts'

const COMPLAINT = /unsupported|not support|deprecat|unrecogni[sz]ed|unknown|not permitted|not allowed|only the default/i
const DROPPABLE: readonly Parameter[] = ['temperature', 'reasoning_effort', 'tool_choice']
/** Other names of a parameter in the forms of other providers. */
const ALSO: Record<string, RegExp> = {
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
      ? (ALSO[name]?.test(failure.message) ?? new RegExp(`\\b${name}\\b`).test(failure.message))
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
