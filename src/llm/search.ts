import * as v from 'valibot'
import { parseCompletion, parseResponses, throwProviderError } from './answer.ts'
import type { Deployment } from './deployments.ts'
import { CallFailure } from './failure.ts'
import type { InferenceRequest, Usage } from './inference.ts'
import type { SearchWay } from './quirks.ts'
import { type CallSettings, chatBody } from './request-body.ts'

export interface SearchResult {
  text: string
  usage: Usage
}

/** One method of a web search by a model: the route, its body, and the parser of its answer. */
interface Way {
  path: string
  body(deployment: Deployment, query: string, settings: CallSettings): object
  parse(answer: unknown, deployment: Deployment): SearchResult
}

/** The temperature of a tool's own model calls. */
const TOOL_TEMPERATURE = 0.5

const toSearchRequest = (query: string): InferenceRequest => ({
  role: 'small',
  messages: [{ role: 'user', content: query }],
  temperature: TOOL_TEMPERATURE,
})

/** Makes a search by chat completion; `more` adds the search parameters to its body. */
const chat = (more: (deployment: Deployment) => object): Way => ({
  path: '/chat/completions',
  body: (deployment, query, settings) => ({
    ...chatBody(deployment, toSearchRequest(query), settings),
    ...more(deployment),
  }),
  parse: (answer, deployment) => {
    const { text, usage } = parseCompletion(deployment, answer)
    return { text, usage }
  },
})

/** A search by the Responses API. */
const responses: Way = {
  path: '/responses',
  body: ({ modelId, unsupported, quirks }, query, settings) => ({
    model: modelId,
    input: query,
    tools: [{ type: 'web_search', ...(quirks.searchSize && { search_context_size: 'medium' }) }],
    max_output_tokens: settings.max_output_tokens,
    ...(unsupported.has('temperature') ? {} : { temperature: TOOL_TEMPERATURE }),
  }),
  parse: parseResponses,
}

const outputs = v.object({
  outputs: v.array(
    v.object({
      type: v.nullish(v.string(), ''),
      content: v.nullish(v.union([v.string(), v.array(v.object({ text: v.nullish(v.string(), '') }))]), ''),
    }),
  ),
  usage: v.nullish(v.object({ prompt_tokens: v.nullish(v.number(), 0), completion_tokens: v.nullish(v.number(), 0) })),
})

/** A search by the Conversations API: a conversation of one turn, which the provider must not store. */
const conversations: Way = {
  path: '/conversations',
  body: ({ modelId }, query, settings) => ({
    model: modelId,
    inputs: query,
    tools: [{ type: 'web_search' }],
    completion_args: { temperature: TOOL_TEMPERATURE, max_tokens: settings.max_output_tokens },
    store: false,
    stream: false,
  }),
  parse: (answer) => {
    const parsed = v.safeParse(outputs, answer)
    if (!parsed.success) {
      throwProviderError(answer)
      throw new CallFailure('the answer is not a conversation', 502, { retryable: true })
    }
    const text = parsed.output.outputs
      .filter(({ type }) => type === 'message.output')
      .map(({ content }) =>
        typeof content === 'string' ? content : (content ?? []).map((chunk) => chunk.text).join(''),
      )
      .join('')
    const { prompt_tokens = 0, completion_tokens = 0 } = parsed.output.usage ?? {}
    return {
      text,
      usage: { input_tokens: prompt_tokens ?? 0, cached_tokens: 0, output_tokens: completion_tokens ?? 0 },
    }
  },
}

export const SEARCH_WAYS: Readonly<Record<SearchWay, Way>> = {
  chat: chat(({ quirks }) => ({ web_search_options: quirks.searchSize ? { search_context_size: 'medium' } : {} })),
  plain: chat(() => ({})),
  openrouter: chat(() => ({ tools: [{ type: 'openrouter:web_search' }] })),
  groq: chat(() => ({ tools: [{ type: 'browser_search' }], tool_choice: 'required' })),
  responses,
  conversations,
}
