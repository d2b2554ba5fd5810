import type { CallFailure } from './failure.ts'

/**
 * What some models or servers refuse: parameters, a message whose content is null, a message of the system, several
 * calls in one message, a stream. They are omitted or written otherwise when the quirks or a refusal say so.
 */
const PARAMETERS = [
  'temperature',
  'reasoning_effort',
  'tool_choice',
  'parallel_calls',
  'null_content',
  'system_role',
  'stream_options',
  'stream',
] as const
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
  /** The largest answer that the server allows, in tokens; learnt from its refusals. */
  maxOutput?: number
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

/** A request, as far as refusals are about it. */
interface Sent {
  messages?: readonly { role: string; content?: unknown; tool_calls?: readonly unknown[] }[]
  stream?: boolean
}

/**
 * What a request can do without, as refusals call it, and whether it was sent. Leaving it out is harmless, so a refusal
 * that names it is enough: each server has words of its own for the rest.
 */
const OMISSIBLE: Record<Parameter, { named: RegExp; isSent(sent: Sent): boolean }> = {
  temperature: { named: /\btemperature\b/i, isSent: (sent) => 'temperature' in sent },
  reasoning_effort: {
    // The other names are those of other wire forms.
    named: /\b(reasoning_effort|effort|thinking|thinking_?[lL]evel|output_config)\b/,
    isSent: (sent) => 'reasoning_effort' in sent,
  },
  tool_choice: { named: /\btool[_ ]choice\b/i, isSent: (sent) => 'tool_choice' in sent },
  parallel_calls: {
    named: /\b(single|one|parallel|multiple) tool[- _]?calls?\b/i,
    isSent: ({ messages = [] }) => messages.some(({ tool_calls: calls }) => (calls?.length ?? 0) > 1),
  },
  null_content: {
    named: /\bcontent\b/i,
    isSent: ({ messages = [] }) => messages.some(({ content }) => content === null),
  },
  system_role: {
    named:
      /\bsystem\b[^.]*\b(role|message|prompt|instruction)|\b(role|message|prompt|instruction)s?\b[^.]*\bsystem\b|\bonly\b.*\broles\b|\broles must alternate\b/i,
    isSent: ({ messages = [] }) => messages[0]?.role === 'system',
  },
  stream_options: { named: /\b(stream_options|include_usage)\b/, isSent: (sent) => 'stream_options' in sent },
  stream: { named: /\bstream(ing|ed)?\b/i, isSent: ({ stream }) => stream === true },
}
/** The statuses of a refusal. A server that renders a template answers 500 when the template refuses a message. */
const REFUSED = [400, 422]
const TEMPLATE_FAILED = /\b(template|jinja)/i
const UNKNOWN_CAP =
  /max_completion_tokens|unsupported|not support|deprecat|unrecogni[sz]ed|unknown|extra|not permitted|not allowed/i

/**
 * Learns from a refusal. What it names and can be left out is left out from now on; a refused `max_tokens` is sent as
 * `max_completion_tokens`, and one that is too large is lowered to what the refusal allows. Returns true if something
 * was learnt, so that repeating the call may help.
 */
export function learnUnsupported(
  deployment: { quirks: Quirks; unsupported: Set<Parameter> },
  { status, message, parameter }: CallFailure,
  sent: Sent,
): boolean {
  const { quirks, unsupported } = deployment
  const isTemplate = status === 500 && TEMPLATE_FAILED.test(message)
  if (!REFUSED.includes(status) && !isTemplate) return false
  const most = allowedOutput(message, quirks.cap in sent ? Number(sent[quirks.cap as keyof Sent]) : 0)
  if (most !== null) {
    quirks.maxOutput = most
    return true
  }
  const namesCap = parameter === null ? /\bmax_tokens\b/.test(message) : parameter === 'max_tokens'
  if (quirks.cap === 'max_tokens' && namesCap && UNKNOWN_CAP.test(message)) {
    quirks.cap = 'max_completion_tokens'
    return true
  }
  const refused = PARAMETERS.find((name) => {
    const { named, isSent } = OMISSIBLE[name]
    return isSent(sent) && (named.test(message) || parameter === name)
  })
  if (refused) unsupported.add(refused)
  return refused !== undefined
}

const CAP = /\bmax[_ ](completion_|new_|output_)?tokens\b|\bcompletion\b|\boutput tokens\b/i
/** A limit of messages and answer together. */
const WINDOW = /(?:context (?:length|size|window)(?: of| is)*(?: only)?|`max_new_tokens` must be <=) *`?(\d[\d,_]*)/i

/**
 * Returns the largest answer that a refusal allows; null when it is not about the size of the answer. Where the limit
 * is that of the context window, half of it is left to the messages.
 * @param cap the size that was sent
 */
function allowedOutput(message: string, cap: number): number | null {
  if (!CAP.test(message)) return null
  const toNumber = (digits: string) => Number(digits.replaceAll(/[,_]/g, ''))
  const window = WINDOW.exec(message)?.[1]
  // The size that was sent is above the limit.
  const smaller = [...message.matchAll(/\d[\d,_]*/g)].map(([digits]) => toNumber(digits)).filter((size) => size < cap)
  const most = window === undefined ? Math.max(0, ...smaller) : Math.floor(toNumber(window) / 2)
  return most >= SMALLEST_OUTPUT && most < cap ? most : null
}

/** A limit below this many tokens is another number of the text. */
const SMALLEST_OUTPUT = 256
