import { UsageError } from '../command.ts'
import type { Question, Reply } from './conversation.ts'

/** The time that a model takes, in milliseconds. */
export interface ModelTimes {
  /** From the request to the first token, whatever was sent. */
  first_token: number
  /** For each input token that no earlier request began with. */
  input_token: number
  /** For each other input token. */
  cached_token: number
  output_token: number
}

/** About what large models of the present take. */
export const USUAL_TIMES: ModelTimes = { first_token: 800, input_token: 0.05, cached_token: 0.005, output_token: 15 }

/** Reads the times from four numbers with commas, in the order of the fields. Errors: `UsageError`. */
export function readTimes(text: string): ModelTimes {
  const values = text.split(',').map((part) => (part.trim() === '' ? Number.NaN : Number(part)))
  const [first_token = 0, input_token = 0, cached_token = 0, output_token = 0] = values
  if (values.length !== 4 || values.some((value) => !Number.isFinite(value) || value < 0))
    throw new UsageError(
      'The times of the model are four numbers of milliseconds, for example ' +
        `${Object.values(USUAL_TIMES).join(',')}, got '${text}'`,
    )
  return { first_token, input_token, cached_token, output_token }
}

/** The tokens of one call. `cached` are those of the input that an earlier request to the same model began with. */
export interface Usage {
  input: number
  cached: number
  output: number
}

/** Counts tokens by the usual rule of thumb: four characters (UTF-16 units) make one token. */
export const countTokens = (text: string): number => Math.ceil(text.length / CHARS_PER_TOKEN)
const CHARS_PER_TOKEN = 4

/** Returns the parts of a request in the order in which providers lay it out: tools, system text, other messages. */
export const partsOf = ({ tools, messages }: Question): string[] => [
  ...tools.map((tool) => JSON.stringify(tool)),
  ...messages.map((message) => JSON.stringify(message)),
]

/** Joins the parts to the text whose beginning counts as cached. */
export const layOut = (question: Question): string => partsOf(question).join('\n')

/** Counts the tokens of a call of which `cached` characters are known. */
export const usageOf = (question: Question, { text, calls }: Reply, cached = 0): Usage => ({
  input: countTokens(layOut(question)),
  cached: Math.floor(cached / CHARS_PER_TOKEN),
  output: countTokens(text ?? JSON.stringify(calls ?? [])),
})

/** Returns the milliseconds until the first token, and from there to the last one. */
export const durationOf = (times: ModelTimes, { input, cached, output }: Usage) => ({
  first_ms: times.first_token + (input - cached) * times.input_token + cached * times.cached_token,
  output_ms: output * times.output_token,
})

/** Maximum number of requests that are remembered for each model, the latest ones. */
const MAX_REMEMBERED = 256

/** Remembers what was sent, as the prompt cache of a provider does, but to the character and without a time limit. */
export function createPrefixMemory() {
  const sent = new Map<string, string[]>()
  return {
    /** Returns the length of the longest beginning that an earlier request to the model had too, and remembers this one. */
    add: (model: string, request: string): number => {
      const earlier = sent.get(model) ?? []
      const known = earlier.reduce((longest, text) => Math.max(longest, sharedPrefix(text, request)), 0)
      // A request that this one continues can be forgotten.
      const kept = earlier.filter((text) => !request.startsWith(text))
      sent.set(model, [...kept, request].slice(-MAX_REMEMBERED))
      return known
    },
    clear: (): void => sent.clear(),
  }
}

/** Returns the length of the beginning that two texts share. */
export function sharedPrefix(a: string, b: string): number {
  const end = Math.min(a.length, b.length)
  let at = 0
  while (at < end && a.charCodeAt(at) === b.charCodeAt(at)) at++
  return at
}
