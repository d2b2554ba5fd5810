import { CALLS, MODEL_SETTINGS, QUESTION, RESULTS, SAID, SYSTEM, TOOLS } from '../conversation.ts'
import { type Loose, sdk } from '../sdks.ts'
import { chatAnswer, chatCalls } from './chat.ts'
import type { Oracle } from './types.ts'

const opening = [
  { role: 'system', content: SYSTEM },
  { role: 'user', content: QUESTION },
]
const tools = TOOLS.map((definition) => ({ type: 'function', function: definition }))
const LARGE = 'mistral-large-latest'
const MISTRAL_FINISH: Record<string, string> = {
  stop: 'end_turn',
  tool_calls: 'tool_use',
  length: 'max_tokens',
  model_length: 'max_tokens',
}

export const mistralClient = () => new (sdk('@mistralai/mistralai').Mistral)({ apiKey: 'key' })
const complete = (messages: object[]) =>
  mistralClient().chat.complete({
    model: LARGE,
    messages,
    tools,
    toolChoice: 'auto',
    maxTokens: MODEL_SETTINGS.max_output_tokens,
    temperature: MODEL_SETTINGS.temperature,
  })

const textOf = (content: Loose): string =>
  Array.isArray(content) ? content.map(({ text }: Loose) => text ?? '').join('') : (content ?? '')

const mistral: Oracle = {
  name: 'mistral/mistral-large-latest by the client of Mistral',
  ours: { model: `mistral/${LARGE}`, credentials: { MISTRAL_API_KEY: 'key' } },
  called: chatAnswer({ content: SAID, tool_calls: chatCalls({ index: 0 }) }, 'tool_calls'),
  begin: () => complete(opening),
  goOn: (answer) =>
    complete([
      ...opening,
      answer.choices[0].message,
      ...CALLS.map(({ id }, index) => ({ role: 'tool', toolCallId: id, content: RESULTS[index] })),
    ]),
  read: ({ choices: [choice], usage }) => ({
    text: textOf(choice.message.content),
    calls: (choice.message.toolCalls ?? []).map((call: Loose) => ({
      name: call.function.name,
      args: JSON.parse(call.function.arguments) as unknown,
    })),
    finish: MISTRAL_FINISH[choice.finishReason] ?? null,
    input: usage.promptTokens,
    cached: usage.promptTokensDetails?.cachedTokens ?? usage.prompt_tokens_details?.cached_tokens ?? 0,
    output: usage.completionTokens,
  }),
  headers: ['authorization'],
  allowed: {
    '^stream$': 'the client says `false`, which is what the interface takes a missing field for',
    '^messages\\[2\\]\\.prefix$': 'the client writes its default, `false`',
    '^messages\\[2\\]\\.tool_calls\\[\\d\\]\\.index$': 'the client writes its default, `0`',
  },
}

export const MISTRAL: readonly Oracle[] = [mistral]
