import { CALLS, MODEL_SETTINGS, QUESTION, RESULTS, SAID, SYSTEM, TOOLS } from '../conversation.ts'
import { type Loose, sdk } from '../sdks.ts'
import type { Oracle } from './types.ts'

const FILTERED = /SAFETY|RECITATION|BLOCKLIST|PROHIBITED|SPII|LANGUAGE/

/** An answer as the documentation of the client reads it: with its own getters for text and calls. */
export const readGenerated = (answer: Loose) => {
  const [candidate] = answer.candidates ?? []
  const calls = (answer.functionCalls ?? []).map(({ name, args }: Loose) => ({ name, args: (args ?? {}) as unknown }))
  const used = answer.usageMetadata ?? {}
  return {
    text: answer.text ?? '',
    calls,
    finish: finishOf(candidate?.finishReason, calls.length > 0, answer.promptFeedback?.blockReason),
    input: (used.promptTokenCount ?? 0) + (used.toolUsePromptTokenCount ?? 0),
    cached: used.cachedContentTokenCount ?? 0,
    output: (used.candidatesTokenCount ?? 0) + (used.thoughtsTokenCount ?? 0),
  }
}

function finishOf(reason: string | undefined, called: boolean, blocked: string | undefined): string | null {
  if (reason === 'STOP') return called ? 'tool_use' : 'end_turn'
  if (reason === 'MAX_TOKENS') return 'max_tokens'
  return blocked || FILTERED.test(reason ?? '') ? 'content_filter' : null
}

export const generated = (parts: object[], finishReason: string, rest: object = {}) => ({
  candidates: [{ content: { parts, role: 'model' }, finishReason, index: 0, safetyRatings: [] }],
  usageMetadata: {
    promptTokenCount: 190,
    cachedContentTokenCount: 128,
    candidatesTokenCount: 18,
    thoughtsTokenCount: 5,
    totalTokenCount: 213,
    promptTokensDetails: [{ modality: 'TEXT', tokenCount: 190 }],
  },
  modelVersion: 'gemini-3.8-flash',
  responseId: 'mVZyaYGkEe',
  ...rest,
})

const functionCalls = CALLS.map(({ id, name, args }) => ({ functionCall: { id, name, args } }))

const config = {
  systemInstruction: SYSTEM,
  maxOutputTokens: MODEL_SETTINGS.max_output_tokens,
  temperature: MODEL_SETTINGS.temperature,
  tools: [
    {
      functionDeclarations: TOOLS.map(({ name, description, parameters }) => ({
        name,
        description,
        parametersJsonSchema: parameters,
      })),
    },
  ],
  toolConfig: { functionCallingConfig: { mode: 'AUTO' } },
}
const question = { role: 'user', parts: [{ text: QUESTION }] }
const results = CALLS.map(({ id, name }, index) => ({
  functionResponse: { id, name, response: { result: RESULTS[index] } },
}))
const MODEL = 'gemini-3.8-flash'
export const genai = () => new (sdk('@google/genai').GoogleGenAI)({ apiKey: 'key' }).models

export const GOOGLE: readonly Oracle[] = [
  {
    name: 'gemini/gemini-3.8-flash in its own form by the client of Google',
    ours: { model: `gemini/${MODEL}`, credentials: { GEMINI_API_KEY: 'key' }, params: { wire: 'gemini' } },
    called: generated(
      [
        { text: 'Both files are asked for.', thought: true },
        { text: SAID },
        { ...functionCalls[0], thoughtSignature: 'CtoBAdHtim9fx==' },
        ...functionCalls.slice(1),
      ],
      'STOP',
    ),
    begin: () => genai().generateContent({ model: MODEL, contents: [question], config }),
    goOn: (answer) =>
      genai().generateContent({
        model: MODEL,
        contents: [question, answer.candidates[0].content, { role: 'user', parts: results }],
        config,
      }),
    read: readGenerated,
    headers: ['x-goog-api-key', 'authorization'],
    allowed: {
      '^url$': 'the client asks version `v1` since its own version 3; `v1beta` has all of it, and the search besides',
      '^systemInstruction\\.role$': 'the client writes a role; the interface says that this content has none',
      '^contents\\[1\\]\\.parts':
        'thoughts are shown to people; only the signatures are wanted back, and ours are there',
    },
  },
]
