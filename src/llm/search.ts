import * as v from 'valibot'
import { checkAnswer, contentSchema, parseCompletion } from './answer.ts'
import type { Deployment } from './deployments.ts'
import type { Inference } from './inference.ts'
import type { SearchWay } from './quirks.ts'
import { type CallSettings, chatBody } from './request-body.ts'

/** One method of a web search by a model: the route, its body, and the parser of its answer. */
interface Way {
  path: string
  body(deployment: Deployment, query: string, settings: CallSettings): object
  parse(answer: unknown, deployment: Deployment): Pick<Inference, 'text' | 'usage'>
}

/** The temperature of a tool's own model calls. */
const TOOL_TEMPERATURE = 0.5

/** Makes a search by chat completion; `more` adds the search parameters to its body. */
const chat = (more: (deployment: Deployment) => object): Way => ({
  path: '/chat/completions',
  body: (deployment, query, settings) => {
    const messages = [{ role: 'user' as const, content: query }]
    const body = chatBody(deployment, { role: 'small', messages, temperature: TOOL_TEMPERATURE }, settings)
    return { ...body, ...more(deployment) }
  },
  parse: (answer, deployment) => parseCompletion(deployment, answer),
})

const count = v.nullish(v.number(), 0)
const responseSchema = v.object({
  output: v.array(
    v.object({
      type: v.string(),
      content: v.nullish(v.array(v.object({ type: v.string(), text: v.nullish(v.string(), '') })), []),
    }),
  ),
  usage: v.nullish(
    v.object({
      input_tokens: count,
      output_tokens: count,
      input_tokens_details: v.nullish(v.object({ cached_tokens: count }), {}),
    }),
    {},
  ),
})

/** A search by the Responses API. Searches and reasoning in the answer are skipped. */
const responses: Way = {
  path: '/responses',
  body: ({ modelId, unsupported, quirks }, query, settings) => ({
    model: modelId,
    input: query,
    tools: [{ type: 'web_search', ...(quirks.searchSize && { search_context_size: 'medium' }) }],
    max_output_tokens: settings.max_output_tokens,
    ...(unsupported.has('temperature') ? {} : { temperature: TOOL_TEMPERATURE }),
  }),
  parse: (answer) => {
    const { output, usage } = checkAnswer(responseSchema, answer, 'response')
    const { input_tokens, output_tokens, input_tokens_details } = usage
    return {
      text: output
        .filter(({ type }) => type === 'message')
        .flatMap(({ content }) => content.filter(({ type }) => type === 'output_text').map(({ text }) => text))
        .join(''),
      usage: { input_tokens, cached_tokens: input_tokens_details.cached_tokens, output_tokens },
    }
  },
}

const conversationSchema = v.object({
  outputs: v.array(v.object({ type: v.nullish(v.string(), ''), content: contentSchema })),
  usage: v.nullish(v.object({ prompt_tokens: count, completion_tokens: count }), {}),
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
    const { outputs, usage } = checkAnswer(conversationSchema, answer, 'conversation')
    return {
      text: outputs.map(({ type, content }) => (type === 'message.output' ? content : '')).join(''),
      usage: { input_tokens: usage.prompt_tokens, cached_tokens: 0, output_tokens: usage.completion_tokens },
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
