import { ANTHROPIC, messageAnswer, messageCalls } from './clients/anthropic.ts'
import { BEDROCK, converseAnswer } from './clients/bedrock.ts'
import { CHAT, chatAnswer, chatCalls } from './clients/chat.ts'
import { GOOGLE, generated } from './clients/google.ts'
import { MISTRAL } from './clients/mistral.ts'
import type { Oracle } from './clients/types.ts'

/** The client of a provider, and an answer of its documentation. */
export type Documented = readonly [name: string, oracle: Oracle, body: object]

const oneOf = (list: readonly Oracle[], start = ''): Oracle => {
  const found = list.find(({ name }) => name.startsWith(start))
  if (!found) throw new Error(`no client for ${start}`)
  return found
}
const openai = oneOf(CHAT, 'openai/gpt-4o')
const groq = oneOf(CHAT, 'groq')
const anthropic = oneOf(ANTHROPIC)
const google = oneOf(GOOGLE)
const bedrock = oneOf(BEDROCK)
const mistral = oneOf(MISTRAL)

const CHAT_ANSWERS: readonly Documented[] = [
  ['a text', openai, chatAnswer({ content: 'Hello! How can I help?', refusal: null, annotations: [] }, 'stop')],
  ['calls without a text', openai, chatAnswer({ content: null, tool_calls: chatCalls() }, 'tool_calls')],
  ['a text that was cut off', openai, chatAnswer({ content: 'The first of', refusal: null }, 'length')],
  ['a refusal', openai, chatAnswer({ content: null, refusal: "I'm sorry, I cannot assist." }, 'stop')],
  ['a filtered answer', openai, chatAnswer({ content: 'Once', refusal: null }, 'content_filter')],
  ['nothing', openai, chatAnswer({ content: '', refusal: null }, 'stop')],
  ['thoughts that took the whole budget', openai, chatAnswer({ content: '', refusal: null }, 'length')],
  ['no usage', openai, chatAnswer({ content: 'Hi' }, 'stop', { usage: undefined })],
  [
    'reasoning beside the text',
    groq,
    chatAnswer({ content: 'Two.', reasoning: 'One plus one.' }, 'stop', {
      x_groq: { id: 'req_01j' },
      usage_breakdown: null,
    }),
  ],
]

const SEARCH_RESULT = {
  type: 'web_search_tool_result',
  tool_use_id: 'srvtoolu_01',
  content: [
    {
      type: 'web_search_result',
      url: 'https://example.com',
      title: 'T',
      encrypted_content: 'EqgfCioIA',
      page_age: null,
    },
  ],
}
const MESSAGES: readonly Documented[] = [
  ['a text', anthropic, messageAnswer([{ type: 'text', text: 'Hello!', citations: null }], 'end_turn')],
  ['calls without a text', anthropic, messageAnswer(messageCalls, 'tool_use')],
  ['a text that was cut off', anthropic, messageAnswer([{ type: 'text', text: 'The first of' }], 'max_tokens')],
  ['a full context', anthropic, messageAnswer([{ type: 'text', text: 'The' }], 'model_context_window_exceeded')],
  [
    'a refusal',
    anthropic,
    messageAnswer([], 'refusal', { stop_details: { type: 'refusal', category: 'cyber', explanation: null } }),
  ],
  ['a refusal in the middle', anthropic, messageAnswer([{ type: 'text', text: 'Once' }], 'refusal')],
  ['nothing', anthropic, messageAnswer([], 'end_turn')],
  [
    'a search of its own',
    anthropic,
    messageAnswer(
      [
        { type: 'text', text: 'I look it up.' },
        { type: 'server_tool_use', id: 'srvtoolu_01', name: 'web_search', input: { query: 'q' } },
        SEARCH_RESULT,
        {
          type: 'text',
          text: ' It is 4.',
          citations: [{ type: 'web_search_result_location', url: 'https://example.com' }],
        },
      ],
      'end_turn',
    ),
  ],
  [
    'thoughts without a text of theirs',
    anthropic,
    messageAnswer(
      [
        { type: 'thinking', thinking: '', signature: 'EosnCkYICxIM' },
        { type: 'text', text: 'Yes.' },
      ],
      'end_turn',
    ),
  ],
]

const used = { promptTokenCount: 12, totalTokenCount: 4_333, thoughtsTokenCount: 4_321 }
const GENERATED: readonly Documented[] = [
  ['a text', google, generated([{ text: 'Hello' }, { text: ' there.' }], 'STOP')],
  ['a call without arguments', google, generated([{ functionCall: { name: 'list_files' } }], 'STOP')],
  ['a text that was cut off', google, generated([{ text: 'The first of' }], 'MAX_TOKENS')],
  [
    'thoughts that took the whole budget',
    google,
    { candidates: [{ content: { role: 'model' }, finishReason: 'MAX_TOKENS', index: 0 }], usageMetadata: used },
  ],
  ['an answer stopped for safety', google, { candidates: [{ finishReason: 'SAFETY', index: 0 }], usageMetadata: used }],
  [
    'a prompt that was blocked',
    google,
    {
      promptFeedback: { blockReason: 'PROHIBITED_CONTENT', safetyRatings: [] },
      usageMetadata: { promptTokenCount: 9 },
    },
  ],
  ['nothing', google, generated([{ text: '' }], 'STOP')],
  [
    'a search of its own',
    google,
    generated([{ text: 'It is 4.', thoughtSignature: 'CtoB' }], 'STOP', {
      usageMetadata: {
        promptTokenCount: 12,
        candidatesTokenCount: 5,
        toolUsePromptTokenCount: 77,
        totalTokenCount: 94,
      },
    }),
  ],
]

const CONVERSE: readonly Documented[] = [
  ['a text', bedrock, converseAnswer([{ text: 'Hello' }], 'end_turn')],
  ['a text that was cut off', bedrock, converseAnswer([{ text: 'The first of' }], 'max_tokens')],
  ['a full context', bedrock, converseAnswer([{ text: 'The' }], 'model_context_window_exceeded')],
  ['a guardrail', bedrock, converseAnswer([{ text: 'Sorry, the model cannot answer.' }], 'guardrail_intervened')],
  ['a filtered answer', bedrock, converseAnswer([{ text: 'On' }], 'content_filtered')],
  ['nothing', bedrock, converseAnswer([], 'end_turn')],
  [
    'redacted thoughts',
    bedrock,
    converseAnswer([{ reasoningContent: { redactedContent: 'AQID' } }, { text: 'Yes.' }], 'end_turn'),
  ],
]

const THINKING = { type: 'thinking', thinking: [{ type: 'text', text: 'One plus one.' }] }
const MISTRALS: readonly Documented[] = [
  ['a text', mistral, chatAnswer({ content: 'Hello', tool_calls: null, prefix: false }, 'stop')],
  [
    'calls beside an empty text',
    mistral,
    chatAnswer({ content: '', tool_calls: chatCalls({ index: 0 }) }, 'tool_calls'),
  ],
  ['a text that was cut off', mistral, chatAnswer({ content: 'The first of', tool_calls: null }, 'length')],
  ['a full context', mistral, chatAnswer({ content: 'The', tool_calls: null }, 'model_length')],
  [
    'thoughts in chunks',
    mistral,
    chatAnswer({ content: [THINKING, { type: 'text', text: 'Two.' }], tool_calls: null }, 'stop'),
  ],
  ['nothing', mistral, chatAnswer({ content: '', tool_calls: null }, 'stop')],
]

/** Answers as the documentation of each provider shows them. */
export const DOCUMENTED: readonly Documented[] = [...CHAT_ANSWERS, ...MESSAGES, ...GENERATED, ...CONVERSE, ...MISTRALS]
